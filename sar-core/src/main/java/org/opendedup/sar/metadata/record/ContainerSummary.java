package org.opendedup.sar.metadata.record;

import java.util.Collections;
import java.util.NavigableSet;
import java.util.TreeSet;
import org.opendedup.sar.metadata.pending.ContainerTable;

/**
 * Totals of the {@link ContainerTable}, and which of its containers are open. Stored as one record in the batch that
 * changes the table, so opening a volume reads this record instead of the table.
 *
 * @param containers number of entries
 * @param storedBytes sum of the containers' lengths in their packs, in bytes
 * @param garbageBytes sum of {@link ContainerEntry#garbageBytes}
 * @param open ids of the open containers: at most one for each lane, and those that crashes left
 */
public record ContainerSummary(long containers, long storedBytes, long garbageBytes, NavigableSet<Long> open) {
    public static final ContainerSummary NONE = new ContainerSummary(0, 0, 0, Collections.emptyNavigableSet());

    public ContainerSummary {
        open = Collections.unmodifiableNavigableSet(new TreeSet<>(open));
    }
}
