package org.opendedup.sar.scrub;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.metadata.pending.ContainerTable;
import org.opendedup.sar.metadata.record.ContainerEntry;

/**
 * The sealed containers of a volume in the order in which they lie on the disk, some thousands at a time. A container
 * that is written anew meanwhile moves to a later place and so comes once more, or comes not at all if its new place
 * has been passed; who wrote it anew has verified it.
 */
final class DiskOrder {
    private static final Comparator<ContainerEntry> BY_PLACE = Comparator.<ContainerEntry>comparingLong(
                    entry -> entry.stored().pack())
            .thenComparingLong(entry -> entry.stored().offset());

    private final ContainerTable table;
    private final int atOnce;

    /** @param atOnce containers that are found by one scan of the container table; each takes 200 bytes of memory */
    DiskOrder(ContainerTable table, int atOnce) {
        this.table = table;
        this.atOnce = atOnce;
    }

    /** Returns the next containers whose places are not before {@code from}; empty if there are no more. */
    List<ContainerEntry> next(Place from) throws IOException {
        PriorityQueue<ContainerEntry> nearest = new PriorityQueue<>(Collections.reverseOrder(BY_PLACE));
        table.forEach(entry -> {
            if (isSealed(entry) && !isBefore(entry, from)) {
                nearest.add(entry);
                if (nearest.size() > atOnce) {
                    nearest.remove();
                }
            }
        });
        List<ContainerEntry> next = new ArrayList<>(nearest);
        next.sort(BY_PLACE);
        return next;
    }

    /** Returns the bytes of all containers whose places are not before {@code from}. */
    long bytesFrom(Place from) throws IOException {
        long[] bytes = new long[1];
        table.forEach(entry -> {
            if (isSealed(entry) && !isBefore(entry, from)) {
                bytes[0] += entry.stored().bytes();
            }
        });
        return bytes[0];
    }

    private static boolean isSealed(ContainerEntry entry) {
        return entry.stored().state() == StoredContainer.State.SEALED;
    }

    private static boolean isBefore(ContainerEntry entry, Place place) {
        StoredContainer stored = entry.stored();
        return stored.pack() < place.pack() || stored.pack() == place.pack() && stored.offset() < place.offset();
    }
}
