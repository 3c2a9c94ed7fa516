package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.Json;
import org.opendedup.sar.sdfs.cli.command.ProgramVersion;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code sdfscli VOLUME df}: how full a volume is, with the figures of df(1) and the ones that they are made from. */
@Command(
        name = "df",
        description = {
            "Shows how full a mounted volume is.",
            "",
            "Prints the figures of df, which count the files before deduplication, what limits them, and the space",
            "that the volume uses on its disk."
        },
        customSynopsis = "sdfscli VOLUME df [--json]",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class)
final class DfCommand implements Callable<Integer> {
    @ParentCommand
    @Nullable
    VolumeClient parent;

    @Option(names = "--json", description = "Print JSON; the keys are stable.")
    boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        VolumeClient cli = Objects.requireNonNull(parent);
        cli.requireFiles();
        Map<String, Object> report = report(cli.ask(VolumeCommands.STATS, Map.of()));
        if (json || cli.json) {
            cli.environment().out().println(Json.pretty(report));
        } else {
            cli.environment().out().print(text(report));
        }
        return ExitCode.OK;
    }

    /** Returns the figures of {@code stats} about space, and what df(1) computes from them. */
    static Map<String, Object> report(Map<String, Object> figures) {
        long capacity = Json.number(figures, "capacityBytes");
        long free = Json.number(figures, "freeBytes");
        long available = Json.number(figures, "availableBytes");
        var report = new LinkedHashMap<String, Object>();
        report.put("name", figures.get("name"));
        report.put("mountPoint", figures.get("mountPoint"));
        report.put("capacityBytes", capacity);
        report.put("usedBytes", capacity - free);
        report.put("freeBytes", free);
        report.put("availableBytes", available);
        report.put("usePercent", usePercent(capacity - free, available));
        report.put("deviceFreeBytes", Json.number(figures, "deviceFreeBytes"));
        report.put("storedBytes", Json.number(figures, "storedBytes"));
        report.put("garbageBytes", Json.number(figures, "garbageBytes"));
        report.put("reclaimableBytes", Json.number(figures, "reclaimableBytes"));
        report.put("reservedBytes", Json.number(figures, "reservedBytes"));
        report.put("rawUsedBytes", Json.number(Json.object(figures, "fastTier"), "rawUsedBytes"));
        return report;
    }

    /**
     * Returns the percentage as df(1) does: used bytes of used and available bytes, rounded up; 0 if nothing is used.
     */
    private static long usePercent(long used, long available) {
        return used == 0 ? 0 : (long) Math.ceil(100.0 * used / ((double) used + available));
    }

    private static String text(Map<String, Object> report) {
        long available = Json.number(report, "availableBytes");
        boolean byDevice = available == Json.number(report, "deviceFreeBytes");
        return String.format("%s, mounted on %s%n", report.get("name"), report.get("mountPoint"))
                + line("capacity", report, "capacityBytes", "limit on the bytes of its files")
                + line(
                        "used",
                        report,
                        "usedBytes",
                        "bytes of its files before deduplication, without holes and zero runs")
                + line("free", report, "freeBytes", "rest of the capacity, root's share included")
                + line(
                        "available",
                        report,
                        "availableBytes",
                        "bytes that users other than root can write now; limited by the "
                                + (byDevice ? "disk" : "capacity"))
                + String.format(
                        "  %-11s %9d %%  share of used in used and available%n",
                        "use", Json.number(report, "usePercent"))
                + line("stored", report, "storedBytes", "bytes of the containers on their disk, compressed")
                + line(
                        "reclaimable",
                        report,
                        "reclaimableBytes",
                        "part of it that no file refers to: sdfscli " + report.get("name") + " gc returns it")
                + line("reserved", report, "reservedBytes", "kept on the disks for deletes: ballasts and free space")
                + (Json.number(report, "rawUsedBytes") == 0
                        ? ""
                        : line("raw", report, "rawUsedBytes", "bytes of raw files on the fast tier, part of used"));
    }

    private static String line(String name, Map<String, Object> report, String key, String meaning) {
        return String.format("  %-11s %11s  %s%n", name, ByteSize.rounded(Json.number(report, key)), meaning);
    }
}
