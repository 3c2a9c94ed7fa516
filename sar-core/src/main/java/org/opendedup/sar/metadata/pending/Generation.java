package org.opendedup.sar.metadata.pending;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.CountRecord;

/**
 * A set of changes that are committed together. It grows while it is the pending one; after
 * {@link MetadataStore#freeze()} it does not change any more. Opaque outside of this package.
 */
public final class Generation {
    /** Value that marks a key as deleted. Compared by identity; every real value has at least a version byte. */
    public static final byte[] DELETED = {};

    /** Heap bytes of a skip list's node with its index, and of two array headers. */
    private static final int RECORD_OVERHEAD_BYTES = 100;

    private final long number;
    private final Map<Family, ConcurrentNavigableMap<byte[], byte[]>> changes = new EnumMap<>(Family.class);
    private final ConcurrentHashMap<Long, CountRecord> counts = new ConcurrentHashMap<>();
    private final LongAdder bytes = new LongAdder();

    Generation(long number) {
        this.number = number;
        for (Family family : Family.values()) {
            changes.put(family, new ConcurrentSkipListMap<>(Arrays::compareUnsigned));
        }
    }

    /** Returns the number, which rises by one with each generation. */
    public long number() {
        return number;
    }

    public boolean isEmpty() {
        return counts.isEmpty() && changes.values().stream().allMatch(Map::isEmpty);
    }

    /** Returns its approximate size on the heap, in bytes. */
    public long bytes() {
        return bytes.sum();
    }

    /** Returns the changes of one family other than {@link Family#COUNT}, whose records are kept decoded. */
    public ConcurrentNavigableMap<byte[], byte[]> changes(Family family) {
        return Objects.requireNonNull(changes.get(family));
    }

    void put(Family family, byte[] key, byte[] value) {
        byte[] before = changes(family).put(key, value);
        bytes.add(before == null ? RECORD_OVERHEAD_BYTES + key.length + value.length : value.length - before.length);
    }

    public @Nullable CountRecord counts(long container) {
        return counts.get(container);
    }

    public Map<Long, CountRecord> counts() {
        return counts;
    }

    public void putCounts(long container, CountRecord record) {
        counts.put(container, record);
        bytes.add(RECORD_OVERHEAD_BYTES + record.heapBytes());
    }

    /** Adds the growth of a count record, in bytes. */
    public void addBytes(int more) {
        bytes.add(more);
    }
}
