package org.opendedup.sar.sim.device;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.opendedup.sar.sim.device.SelfCheck.Finding;
import org.opendedup.sar.sim.options.ReportOption;
import org.opendedup.sar.sim.options.SimCommand;
import org.opendedup.sar.sim.report.Report;
import org.opendedup.sar.sim.report.ReportFolder;
import org.opendedup.sar.sim.report.Section;
import org.opendedup.sar.sim.report.Table;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code sar-sim selfcheck}: checks whether the device models reach the published times. Exit code 1 if not. */
@Command(
        name = "selfcheck",
        description = "Compares the device models with published figures of the devices. Exits with 1 if one differs.")
public final class SelfcheckCommand extends SimCommand {
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
        if (json) {
            printJson(new Result(machine, passed, findings));
        } else {
            findings.forEach(finding -> out().println(line(finding)));
            out().println(passed ? "all within 1 %" : "the model is off");
        }
        out().flush();
        if (folder != null) {
            folder.write(report(findings, passed));
        }
        return passed ? 0 : 1;
    }

    private record Result(String machine, boolean passed, List<Finding> findings) {}

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
