package org.opendedup.sar.check;

import com.google.common.primitives.ImmutableLongArray;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeMap;
import org.opendedup.sar.metadata.ContainerRecords;
import org.opendedup.sar.metadata.record.ContainerEntry;

/**
 * The container table in the order of the disk. Keeps 8 bytes in memory for each container, and one map entry for each
 * pack.
 */
final class EntriesByPack {
    private final ContainerRecords records;
    private final TreeMap<Long, ImmutableLongArray.Builder> containers = new TreeMap<>();
    private long entries;

    EntriesByPack(ContainerRecords records) {
        this.records = records;
    }

    void add(ContainerEntry entry) {
        containers
                .computeIfAbsent(entry.stored().pack(), none -> ImmutableLongArray.builder(64))
                .add(entry.container());
        entries++;
    }

    /** Returns the number of entries. */
    long entries() {
        return entries;
    }

    SortedSet<Long> packs() {
        return containers.navigableKeySet();
    }

    /** Returns the entries of a pack by offset. */
    List<ContainerEntry> of(long pack) throws IOException {
        List<ContainerEntry> found = new ArrayList<>();
        ImmutableLongArray.Builder ids = containers.get(pack);
        if (ids != null) {
            for (long container : ids.build().toArray()) {
                ContainerEntry entry = records.entry(container);
                if (entry != null) {
                    found.add(entry);
                }
            }
        }
        found.sort(Comparator.comparingLong(entry -> entry.stored().offset()));
        return found;
    }
}
