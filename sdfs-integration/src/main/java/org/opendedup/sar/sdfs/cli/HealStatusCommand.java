package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.HealControl;
import org.opendedup.sar.sdfs.cli.report.HealText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME heal status}: the running pass, or the last one. */
@Command(
        name = "status",
        description = {
            "Shows the running pass, or the last one.",
            "",
            "Prints the progress of the running one, or the result of the last one that was asked for in this mount,",
            "and how many chunks are damaged.",
            ""
        },
        customSynopsis = "sdfscli VOLUME heal status [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {"", "Example:", "  sdfscli pool0 heal status"})
final class HealStatusCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    HealCommand parent;

    @Option(names = "--json", description = "Print JSON; the keys are stable.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        HealCommand heal = Objects.requireNonNull(parent);
        Map<String, Object> report = heal.ask(HealControl.STATUS);
        heal.print(json, report, text(report));
        return ExitCode.OK;
    }

    private static String text(Map<String, Object> report) {
        if (Boolean.TRUE.equals(report.get("running"))) {
            return "A pass is running, started by " + report.get("cause") + " at " + report.get("began") + ": "
                    + JobClient.line(report).strip();
        }
        if (Json.number(report, "number") == 0) {
            return "No pass was asked for since the volume was mounted; "
                    + Json.number(report, HealText.UNHEALED_CHUNKS) + " chunks are damaged.";
        }
        Object error = report.get("error");
        return "The last pass, started by " + report.get("cause") + " at " + report.get("began") + ": "
                + report.get("state") + (error == null ? "" : ": " + error) + "\n" + HealText.result(report);
    }
}
