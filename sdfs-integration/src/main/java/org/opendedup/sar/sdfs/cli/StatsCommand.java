package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.cli.report.Json;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code sdfscli VOLUME stats}: the figures of a mounted volume. */
@Command(
        name = "stats",
        description = "Shows the figures of a mounted volume: sizes, ratios, reads, memory.",
        footer = {
            "sdfscli VOLUME gc returns the reclaimableBytes.",
            "JMX has the meaning of every figure; docs/operations/health.md explains most."
        })
final class StatsCommand extends VolumeCommand {
    @Option(names = "--prometheus", description = "Print the text format of Prometheus, with histograms.")
    boolean prometheus;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        if (prometheus && cli().json) {
            throw usage("give --prometheus or --json, not both");
        }
        if (prometheus) {
            Object text = cli().ask(VolumeCommands.METRICS, Map.of()).get(VolumeCommands.TEXT);
            print(String.valueOf(text).stripTrailing());
            return ExitCode.OK;
        }
        Map<String, Object> figures = cli().ask(VolumeCommands.STATS, Map.of());
        print(figures, text(figures).stripTrailing());
        return ExitCode.OK;
    }

    /** Returns one line a figure; the SSD's figures follow the others, under a heading. */
    private static String text(Map<String, Object> figures) {
        var text = new StringBuilder();
        figures.forEach((key, value) -> text.append(
                value instanceof Map<?, ?> ? key + ":\n" + text(Json.object(figures, key)) : line(key, value) + "\n"));
        return text.toString();
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
