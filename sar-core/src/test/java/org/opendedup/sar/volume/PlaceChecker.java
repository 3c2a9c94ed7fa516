package org.opendedup.sar.volume;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import org.opendedup.sar.check.PlaceCheck;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.metadata.pending.ContainerTable;
import org.opendedup.sar.metadata.record.ContainerEntry;

/**
 * Checks the places in the container table: each lies within its pack, and no two overlap. Reads the headers of the
 * packs. Keeps the entries of all containers in memory.
 */
public final class PlaceChecker {
    private final ContainerStore containers;
    private final Consumer<String> report;

    /** @param report receives each problem, as one sentence */
    public PlaceChecker(ContainerStore containers, Consumer<String> report) {
        this.containers = containers;
        this.report = report;
    }

    public void check(ContainerTable table) throws IOException {
        List<ContainerEntry> entries = new ArrayList<>();
        table.forEach(entries::add);
        entries.sort(Comparator.comparingLong(
                        (ContainerEntry entry) -> entry.stored().pack())
                .thenComparingLong(entry -> entry.stored().offset()));
        for (int first = 0; first < entries.size(); ) {
            long pack = entries.get(first).stored().pack();
            int end = first;
            while (end < entries.size() && entries.get(end).stored().pack() == pack) {
                end++;
            }
            PlaceCheck.run(
                    entries.subList(first, end),
                    length(pack),
                    (entry, problem) -> report.accept(PlaceCheck.name(entry) + " " + problem));
            first = end;
        }
    }

    private long length(long pack) {
        try {
            return containers.packBytes(pack);
        } catch (IOException e) {
            report.accept("pack " + PackFormat.fileName(pack) + " is in the container table and cannot be read: " + e);
            return Long.MAX_VALUE;
        }
    }
}
