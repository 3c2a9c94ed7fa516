package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.cli.report.Json;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME stats}: the figures of a mounted volume. */
@Command(
        name = "stats",
        description = "Shows the figures of a mounted volume: sizes, ratios, reads, memory.",
        customSynopsis = "sdfscli VOLUME stats [--json]%n",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        footer = {
            "",
            "sdfscli VOLUME gc returns the reclaimableBytes.",
            "JMX has the meaning of every figure; docs/operations/health.md explains most."
        })
final class StatsCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    VolumeClient parent;

    @Option(names = "--json", description = "Print JSON; the keys are stable.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        VolumeClient cli = Objects.requireNonNull(parent);
        Map<String, Object> figures = cli.ask(VolumeCommands.STATS, Map.of());
        if (json || cli.json) {
            cli.environment().out().println(Json.pretty(figures));
        } else {
            print(cli, figures);
        }
        return ExitCode.OK;
    }

    /** Prints one line a figure; the SSD's figures follow the others, under a heading. */
    private static void print(VolumeClient cli, Map<String, Object> figures) {
        figures.forEach((key, value) -> {
            if (value instanceof Map<?, ?>) {
                cli.environment().out().println(key + ":");
                print(cli, Json.object(figures, key));
            } else {
                cli.environment().out().println(line(key, value));
            }
        });
    }

    /** Returns the key, the value unchanged and, for sizes, again in a unit; with reclaimable ones, how. */
    private static String line(String key, Object value) {
        if (value instanceof Double ratio) {
            return String.format(Locale.ROOT, "%-20s %20.3f", key, ratio);
        }
        String line = String.format(Locale.ROOT, "%-20s %20s", key, value);
        String words = key.equals("reclaimableBytes") ? "  by sdfscli VOLUME gc" : "";
        return key.endsWith("Bytes") && value instanceof Number bytes
                ? line + String.format(Locale.ROOT, "  %10s", ByteSize.rounded(bytes.longValue())) + words
                : line;
    }
}
