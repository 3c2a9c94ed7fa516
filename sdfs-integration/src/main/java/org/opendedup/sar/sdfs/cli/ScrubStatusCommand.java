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
import org.opendedup.sar.sdfs.cli.control.ScrubControl;
import org.opendedup.sar.sdfs.cli.report.ScrubText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME scrub status}: the running scrub, the pace, the last result, the next time. */
@Command(
        name = "status",
        description = {
            "Shows the scrubs of a mounted volume.",
            "",
            "Prints the progress of the running or stopped one and what it has found, the pace, the schedule with its",
            "next time, and the result of the last complete one, which may be older than the mount.",
            ""
        },
        customSynopsis = "sdfscli VOLUME scrub status [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "Examples:",
            "  sdfscli pool0 scrub status",
            "  sdfscli pool0 scrub status --json | jq .last.damagedFrames"
        })
final class ScrubStatusCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    ScrubCommand parent;

    @Option(names = "--json", description = "Print JSON; the keys are stable.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        ScrubCommand scrub = Objects.requireNonNull(parent);
        Map<String, Object> status = scrub.ask(ScrubControl.STATUS, Map.of());
        String progress = JobClient.line(Json.object(status, "current"));
        scrub.print(
                json, status, ScrubText.status(scrub.cli().name(), !scrub.cli().isOfPlugin(), status, progress));
        return ExitCode.OK;
    }
}
