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
import org.opendedup.sar.metadata.record.Births;
import org.opendedup.sar.metadata.record.CountRecord;
import org.opendedup.sar.metadata.record.VersionKeys;
import org.opendedup.sar.metadata.record.VersionKeys.Kind;
import org.opendedup.sar.metadata.versions.Kinds;
import org.opendedup.sar.metadata.versions.VersionKeeper;

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
    private final VersionKeeper.Rule rule;
    private final Map<Family, ConcurrentNavigableMap<byte[], byte[]>> changes = new EnumMap<>(Family.class);
    private final ConcurrentHashMap<Long, CountRecord> counts = new ConcurrentHashMap<>();
    private final LongAdder bytes = new LongAdder();

    Generation(long number, VersionKeeper.Rule rule) {
        this.number = number;
        this.rule = rule;
        for (Family family : Family.values()) {
            changes.put(family, new ConcurrentSkipListMap<>(Arrays::compareUnsigned));
        }
    }

    /** Returns the number, which rises by one with each generation. */
    public long number() {
        return number;
    }

    /** Returns what of the records that are replaced is kept. */
    public VersionKeeper.Rule rule() {
        return rule;
    }

    public boolean isEmpty() {
        for (Map<byte[], byte[]> ofFamily : changes.values()) {
            if (!ofFamily.isEmpty()) {
                return false;
            }
        }
        return counts.isEmpty();
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
        if (before != null) {
            keepIfReplaced(family, key, before, value);
        }
        bytes.add(before == null ? RECORD_OVERHEAD_BYTES + key.length + value.length : value.length - before.length);
    }

    /** Keeps a record that an earlier change of this generation put in the place of one that a snapshot has. */
    private void keepIfReplaced(Family family, byte[] key, byte[] before, byte[] now) {
        Kind kind = Kinds.of(family);
        if (kind != null
                && before.length > 0
                && rule.keeps(Births.of(before))
                && (now.length == 0 || Births.of(now) != Births.of(before))) {
            put(Family.VERSION, VersionKeys.version(kind, key, rule.birth()), before);
            put(Family.DEATH, VersionKeys.death(rule.birth(), Births.of(before), kind, key), VersionKeeper.DEATH);
        }
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

    /** Adds the growth of a count record, or what is kept of records that are replaced, in bytes. */
    public void addBytes(int more) {
        bytes.add(more);
    }
}
