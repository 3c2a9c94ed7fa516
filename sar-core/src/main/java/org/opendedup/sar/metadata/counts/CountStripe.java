package org.opendedup.sar.metadata.counts;

import java.io.IOException;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.db.StoredRecords;
import org.opendedup.sar.metadata.pending.Generation;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.pending.Overlay.Layers;
import org.opendedup.sar.metadata.record.CountRecord;

/**
 * The count records of a part of the containers, in memory as far as there is room. Its monitor guards its cache and
 * every record of these containers that is not frozen. The methods that are not synchronized are called with the
 * monitor held, except {@link #hold} and {@link #load}.
 *
 * <p>A cached record is always the newest one, so the cache is queried first; a record that it evicts is found again in
 * the pending generation, the frozen one or the database. A record belongs to the generation that changed it. The first
 * change in a later generation makes a copy, so that the frozen one can be written out without a lock.
 */
final class CountStripe {
    private final Overlay overlay;
    private final ClockTable<CountRecord> cache;
    /** The newest records of some containers, which stay in memory even if the cache evicts them. */
    private final Map<Long, Held> held = new HashMap<>();

    /** The slots of some containers that get no further references although they are alive: mostly empty. */
    private final Map<Long, BitSet> condemned = new HashMap<>();

    CountStripe(Overlay overlay, long cacheBytes) {
        this.overlay = overlay;
        cache = new ClockTable<>(cacheBytes);
    }

    /**
     * A record that is kept in memory; {@code record} is null while it is read for the first time and was not changed.
     */
    private static final class Held {
        @Nullable
        CountRecord record;

        int holders;
    }

    /**
     * Keeps a container's newest record in memory until {@link #release}; each call needs one call of {@link #release}.
     * While the record is read, other threads can use the counts of this stripe.
     */
    void hold(long container) throws IOException {
        synchronized (this) {
            Held kept = held.computeIfAbsent(container, id -> new Held());
            kept.holders++;
            if (kept.record == null) {
                kept.record = inMemory(container);
            }
            if (kept.record != null) {
                return;
            }
        }
        try {
            CountRecord loaded = committed(container);
            synchronized (this) {
                Held kept = held.get(container);
                if (kept != null && kept.record == null) {
                    kept.record = loaded;
                }
            }
        } catch (IOException | RuntimeException e) {
            release(container);
            throw e;
        }
    }

    /** Ends a {@link #hold}. */
    synchronized void release(long container) {
        Held kept = held.get(container);
        if (kept != null && --kept.holders == 0) {
            held.remove(container);
        }
    }

    /** Reads a container's record into the cache. The monitor is not held while the database is read. */
    void load(long container) throws IOException {
        synchronized (this) {
            if (inMemory(container) != null) {
                return;
            }
        }
        hold(container);
        synchronized (this) {
            record(container);
        }
        release(container);
    }

    /** Reads a container's record from the database. */
    private CountRecord committed(long container) throws IOException {
        return StoredRecords.counts(overlay.database(), container);
    }

    /** Returns the newest record, for reading. */
    CountRecord record(long container) throws IOException {
        CountRecord record = inMemory(container);
        if (record == null) {
            record = committed(container);
            cache.put(container, 0, record, record.heapBytes());
        }
        return record;
    }

    /** Returns the newest record if it is in memory; otherwise null. */
    private @Nullable CountRecord inMemory(long container) {
        CountRecord record = cache.get(container, 0);
        if (record != null) {
            return record;
        }
        Held kept = held.isEmpty() ? null : held.get(container);
        record = kept == null ? null : kept.record;
        if (record == null) {
            Layers layers = overlay.layers();
            record = layers.pending().counts(container);
            if (record == null && layers.frozen() != null) {
                record = layers.frozen().counts(container);
            }
        }
        if (record != null) {
            cache.put(container, 0, record, record.heapBytes());
        }
        return record;
    }

    /** Returns the newest record, for changing: a part of the pending generation. */
    CountRecord change(long container) throws IOException {
        Generation pending = overlay.pending();
        CountRecord record = record(container);
        if (record.generation() == pending.number()) {
            return record;
        }
        CountRecord copy = record.copy(pending.number());
        pending.putCounts(container, copy);
        cache.put(container, 0, copy, copy.heapBytes());
        Held kept = held.isEmpty() ? null : held.get(container);
        if (kept != null) {
            kept.record = copy;
        }
        return copy;
    }

    /**
     * Condemns those of the first {@code slots} slots that have no reference, are no tombstones and are not kept.
     *
     * @param kept copies, by chunk id, that are to be left out
     * @return a copy of the container's condemned slots, with those condemned before
     */
    BitSet condemn(long container, int slots, LongPredicate kept) throws IOException {
        CountRecord record = record(container);
        BitSet unreferenced = new BitSet(slots);
        for (int slot = 0; slot < slots; slot++) {
            unreferenced.set(slot, !record.isTombstone(slot) && isGarbage(record, container, slot, kept));
        }
        BitSet before = condemned.get(container);
        if (before != null) {
            unreferenced.or(before);
        }
        if (!unreferenced.isEmpty()) {
            condemned.put(container, unreferenced);
        }
        return (BitSet) unreferenced.clone();
    }

    private static boolean isGarbage(CountRecord record, long container, int slot, LongPredicate kept) {
        return record.count(slot) == 0 && !kept.test(ChunkId.of(container, slot));
    }

    boolean isCondemned(long container, int slot) {
        BitSet slots = condemned.isEmpty() ? null : condemned.get(container);
        return slots != null && slots.get(slot);
    }

    /** Forgets which slots of a container are condemned. */
    void pardon(long container) {
        condemned.remove(container);
    }

    /** Returns those of a container's condemned slots that still have no reference and are not kept. */
    BitSet unreferenced(long container, LongPredicate kept) throws IOException {
        BitSet slots = new BitSet(0);
        BitSet candidates = condemned.get(container);
        if (candidates != null) {
            CountRecord record = record(container);
            candidates.stream()
                    .filter(slot -> isGarbage(record, container, slot, kept))
                    .forEach(slots::set);
        }
        return slots;
    }

    /** Reports a record's new size to the cache and to the pending generation. */
    void account(long container, CountRecord record, int heapBytesBefore) {
        int grown = record.heapBytes() - heapBytesBefore;
        if (grown != 0) {
            cache.put(container, 0, record, record.heapBytes());
            overlay.pending().addBytes(grown);
        }
    }
}
