package org.opendedup.sar.sim.device;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sim.device.SelfCheck.Finding;
import org.opendedup.sar.sim.options.ReportOption;
import org.opendedup.sar.sim.report.Report;
import org.opendedup.sar.sim.report.ReportFolder;
import org.opendedup.sar.sim.report.Section;
import org.opendedup.sar.sim.report.Table;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code sar-sim selfcheck}: checks whether the device models reach the published times. Exit code 1 if not. */
@Command(
        name = "selfcheck",
        description = "Compares the device models with published figures of the devices. Exits with 1 if one differs.",
        mixinStandardHelpOptions = true)
public final class SelfcheckCommand implements Callable<Integer> {
    @Spec
    @Nullable
    CommandSpec spec;

    @Option(names = "--json", description = "Print JSON.")
    boolean json;

    @Option(
            names = "--machine",
            paramLabel = "NAME|FILE",
            defaultValue = "sar",
            description =
                    "Machine of this program (sar, lookahead, tddfs) or a parameter file. Default: ${DEFAULT-VALUE}.")
    String machine = "sar";

    @Mixin
    ReportOption report = new ReportOption();

    @Override
    public Integer call() throws IOException {
        ReportFolder folder = report.folder();
        List<Finding> findings = SelfCheck.run(Machine.load(machine));
        boolean passed = SelfCheck.passed(findings);
        PrintWriter out = out();
        if (json) {
            Map<String, Object> report = new LinkedHashMap<>();
            report.put("machine", machine);
            report.put("passed", passed);
            report.put("findings", findings);
            out.println(new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(report));
        } else {
            findings.forEach(finding -> out.println(line(finding)));
            out.println(passed ? "all within 1 %" : "the model is off");
        }
        out.flush();
        if (folder != null) {
            folder.write(report(findings, passed));
        }
        return passed ? 0 : 1;
    }

    private Report report(List<Finding> findings, boolean passed) {
        Table table = Table.of("selfcheck", findings);
        return new Report(
                "Check of the device models",
                false,
                List.of(
                        new Report.Fact("machine", machine),
                        new Report.Fact("result", passed ? "all within 1 %" : "the model is off")),
                List.of(Section.of("Findings", "A line without an expected value is not checked.", table)),
                List.of(table));
    }

    private PrintWriter out() {
        if (spec == null) {
            throw new IllegalStateException("the command was not made by picocli");
        }
        return spec.commandLine().getOut();
    }

    private static String line(Finding finding) {
        String reached =
                String.format(Locale.ROOT, "%-45s %10.4f %-5s", finding.name(), finding.reached(), finding.unit());
        if (finding.expected() == null) {
            return reached;
        }
        return reached
                + String.format(
                        Locale.ROOT,
                        "expected %10.4f  %+6.2f %%  %s",
                        finding.expected(),
                        finding.deviationPercent(),
                        Boolean.TRUE.equals(finding.passed()) ? "ok" : "OFF");
    }
}
