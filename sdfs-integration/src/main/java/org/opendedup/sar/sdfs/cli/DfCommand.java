package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.cli.report.Json;
import picocli.CommandLine.Command;

/** {@code sdfscli VOLUME df}: how full a volume is, with the figures of df(1) and the ones that they are made from. */
@Command(
        name = "df",
        description = {
            "Shows how full a mounted volume is.",
            "",
            "Prints the figures of df, which count the files before deduplication, what limits them, and the space",
            "that the volume uses on its disk."
        })
final class DfCommand extends VolumeCommand {
    @Override
    public Integer call() throws IOException, CommandFailedException {
        VolumeClient cli = cli();
        cli.requireFiles();
        Space space = space(cli);
        print(Json.values(space), space.text().stripTrailing());
        return ExitCode.OK;
    }

    /** Asks the volume's daemon. */
    static Space space(VolumeClient cli) throws IOException, CommandFailedException {
        var figures = new LinkedHashMap<>(cli.ask(VolumeCommands.STATS, Map.of()));
        long used = Json.number(figures, "capacityBytes") - Json.number(figures, "freeBytes");
        figures.put("usedBytes", used);
        figures.put("usePercent", usePercent(used, Json.number(figures, "availableBytes")));
        Map<String, Object> store = Json.object(figures, "objectStore");
        figures.put("missingBytes", store.isEmpty() ? 0 : Json.number(store, "missingBytes"));
        figures.put("rawUsedBytes", Json.number(Json.object(figures, "fastTier"), "rawUsedBytes"));
        return Json.record(figures, Space.class);
    }

    /**
     * Returns the percentage as df(1) does: used bytes of used and available bytes, rounded up; 0 if nothing is used.
     */
    private static long usePercent(long used, long available) {
        return used == 0 ? 0 : (long) Math.ceil(100.0 * used / ((double) used + available));
    }

    /** The figures of {@code stats} about space, and what df(1) computes from them. */
    record Space(
            String name,
            String mountPoint,
            long capacityBytes,
            long usedBytes,
            long freeBytes,
            long availableBytes,
            long usePercent,
            long deviceFreeBytes,
            long storedBytes,
            long garbageBytes,
            long reclaimableBytes,
            long reservedBytes,
            long rawUsedBytes,
            long missingBytes) {
        private String text() {
            boolean byDevice = availableBytes == deviceFreeBytes;
            return String.format("%s, mounted on %s%n", name, mountPoint)
                    + line("capacity", capacityBytes, "limit on the bytes of its files")
                    + line("used", usedBytes, "bytes of its files before deduplication, without holes and zero runs")
                    + line("free", freeBytes, "rest of the capacity, root's share included")
                    + line(
                            "available",
                            availableBytes,
                            "bytes that users other than root can write now; limited by the "
                                    + (byDevice ? "disk" : "capacity"))
                    + String.format("  %-11s %9d %%  share of used in used and available%n", "use", usePercent)
                    + line("stored", storedBytes, "bytes of the containers on their disk, compressed")
                    + line(
                            "reclaimable",
                            reclaimableBytes,
                            "part of it that no file refers to: sdfscli " + name + " gc returns it")
                    + line("reserved", reservedBytes, "kept on the disks for deletes: ballasts and free space")
                    + (rawUsedBytes == 0
                            ? ""
                            : line("raw", rawUsedBytes, "bytes of raw files on the fast tier, part of used"))
                    + (missingBytes == 0
                            ? ""
                            : line(
                                    "missing",
                                    missingBytes,
                                    "bytes that the object store does not have yet, lost if this machine is"));
        }

        private static String line(String name, long bytes, String meaning) {
            return String.format("  %-11s %11s  %s%n", name, ByteSize.rounded(bytes), meaning);
        }
    }
}
