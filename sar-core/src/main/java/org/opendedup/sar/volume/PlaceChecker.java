package org.opendedup.sar.volume;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.metadata.ContainerEntry;
import org.opendedup.sar.metadata.ContainerTable;

/**
 * Checks the places in the container table: each lies within its pack, and no two overlap. Reads the headers of the
 * packs. Keeps the entries of all containers in memory.
 */
final class PlaceChecker {
    private final ContainerStore containers;
    private final Consumer<String> report;

    /** @param report receives each problem, as one sentence */
    PlaceChecker(ContainerStore containers, Consumer<String> report) {
        this.containers = containers;
        this.report = report;
    }

    void check(ContainerTable table) throws IOException {
        List<ContainerEntry> entries = new ArrayList<>();
        table.forEach(entries::add);
        entries.sort(Comparator.comparingLong(
                        (ContainerEntry entry) -> entry.stored().pack())
                .thenComparingLong(entry -> entry.stored().offset()));
        long pack = 0;
        long length = 0;
        long end = 0;
        for (ContainerEntry entry : entries) {
            StoredContainer stored = entry.stored();
            if (stored.pack() != pack) {
                pack = stored.pack();
                length = length(pack);
                end = PackFormat.FIRST_CONTAINER;
            }
            if (stored.offset() < end) {
                report(entry, "begins before byte " + end + ", where what precedes it ends");
            }
            if (stored.offset() % PackFormat.ALIGNMENT != 0) {
                report(entry, "does not begin at a multiple of " + PackFormat.ALIGNMENT);
            }
            end = stored.offset() + stored.bytes();
            if (end > length) {
                report(entry, "ends after the file, which has " + length + " bytes");
            }
            if (entry.container() > pack) {
                report(entry, "has an id above the number of its pack");
            }
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

    private void report(ContainerEntry entry, String problem) {
        StoredContainer stored = entry.stored();
        report.accept("container " + entry.container() + ", " + stored.bytes() + " bytes at byte " + stored.offset()
                + " of pack " + PackFormat.fileName(stored.pack()) + ", " + problem);
    }
}
