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
import org.opendedup.sar.sdfs.cli.control.GcControl;
import org.opendedup.sar.sdfs.cli.report.GcText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME gc status}: the running collection, the pace, the last result, the next time. */
@Command(
        name = "status",
        description = {
            "Shows the collections of garbage of a mounted volume.",
            "",
            "Prints the progress of the running one, the pace, the schedule with its next time, and the result of",
            "the last one, with what started it: sdfscli, JMX, the schedule or a full disk.",
            ""
        },
        customSynopsis = "sdfscli VOLUME gc status [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "Examples:",
            "  sdfscli pool0 gc status",
            "  sdfscli pool0 gc status --json | jq .last.returnedBytes"
        })
final class GcStatusCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    GcCommand parent;

    @Option(names = "--json", description = "Print JSON; the keys are stable.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        GcCommand gc = Objects.requireNonNull(parent);
        Map<String, Object> status = gc.ask(GcControl.STATUS, Map.of());
        gc.print(json, status, GcText.status(gc.cli().name(), status, JobClient.line(Json.object(status, "current"))));
        return ExitCode.OK;
    }
}
