package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.cli.report.Json;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/**
 * {@code sdfscli VOLUME resume}: accepts changes again after a disk refused writes, as {@code mount -o remount,rw}
 * does.
 */
@Command(
        name = "resume",
        description = "Accepts changes again after a failed disk works again.",
        customSynopsis = "sdfscli VOLUME resume [--json]",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class)
final class ResumeCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    VolumeClient parent;

    @Option(names = "--json", description = "Print the result as JSON.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        VolumeClient cli = Objects.requireNonNull(parent);
        Map<String, Object> answer = cli.ask(VolumeCommands.RESUME, Map.of());
        boolean resumed = Boolean.TRUE.equals(answer.get(VolumeCommands.RESUMED));
        if (json || cli.json) {
            var result = new LinkedHashMap<String, Object>();
            result.put("name", cli.name());
            result.put(VolumeCommands.RESUMED, resumed);
            cli.environment().out().println(Json.pretty(result));
        } else {
            cli.environment()
                    .out()
                    .println(
                            resumed
                                    ? cli.name() + " accepts changes again; everything accepted before is durable."
                                    : cli.name() + " accepts changes; no write had failed.");
        }
        return ExitCode.OK;
    }
}
