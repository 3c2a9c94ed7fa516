package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.metadata.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.KeyValueStore.Family;
import org.opendedup.sar.metadata.Overlay.Layers;

/**
 * The reference counts: how often recipes refer to each stored copy of a chunk, in one record per container. A copy is
 * alive from its first reference until it is tombstoned; while it is alive with count 0 it is garbage, and can be
 * referenced again.
 *
 * <p>Each call is atomic; changes must not run during {@link MetadataStore#freeze()}. A change that would make a count
 * negative is a programmer error, and throws an {@link IllegalStateException}.
 *
 * <p>Containers are distributed over stripes, each with a lock and a cache of decoded records. A cached record is
 * always the newest one, so the cache is queried first; a record that it evicts is found again in the pending
 * generation, the frozen one or the database. A record belongs to the generation that changed it. The first change in a
 * later generation makes a copy, so that the frozen one can be written out without a lock.
 */
public final class ReferenceCounts {
    private static final int STRIPE_BITS = 6;

    /** The generation number of records read from the database. */
    private static final long NO_GENERATION = 0;

    /**
     * Maximum number of references to a copy. A copy with this number gets no further ones: new data is stored in a new
     * copy, and a recipe is not copied. The distance to the maximum that a record can hold is larger than the number of
     * references that all concurrent changes can add.
     */
    static final int MAX_COUNT = Integer.MAX_VALUE - (1 << 26);

    private final Overlay overlay;
    private final CopyCounters stored;
    private final Stripe[] stripes = new Stripe[1 << STRIPE_BITS];
    private volatile @Nullable LongConsumer unreferenced;
    private volatile WritingSource writings = container -> Writing.UNKNOWN;

    /** Provides, for a container, the writing of it that exists. */
    @FunctionalInterface
    public interface WritingSource {
        Writing writing(long container) throws IOException;
    }

    /** @param stored totals of stored copies, as of the last commit */
    ReferenceCounts(Overlay overlay, StoredCopies stored, long cacheBytes) {
        this.overlay = overlay;
        this.stored = new CopyCounters(stored);
        for (int i = 0; i < stripes.length; i++) {
            stripes[i] = new Stripe(cacheBytes >> STRIPE_BITS);
        }
    }

    /**
     * Sets the listener for each copy whose count falls to zero. It is called with a lock of the counts held: it must
     * not wait, and must not call this object.
     */
    public void listen(LongConsumer toTell) {
        unreferenced = toTell;
    }

    /**
     * Sets the source of the writing of a container that gets its first reference. It is called with a lock of the
     * counts held.
     */
    public void writingsFrom(WritingSource source) {
        writings = source;
    }

    /** Returns the writing of a container that references refer to; {@link Writing#UNKNOWN} if there never was one. */
    public Writing writing(long container) throws IOException {
        Stripe stripe = read(container);
        synchronized (stripe) {
            return stripe.record(container).writing();
        }
    }

    /** Returns the slots of a container whose copies exist. */
    public BitSet alive(long container) throws IOException {
        Stripe stripe = read(container);
        synchronized (stripe) {
            return stripe.record(container).alive();
        }
    }

    /**
     * Records that copies are damaged, so that no new reference is made to them; a change like any other.
     *
     * @return whether any of them was not known to be damaged
     */
    public boolean markDamaged(long container, int firstSlot, int endSlot) throws IOException {
        Stripe stripe = read(container);
        synchronized (stripe) {
            if (!stripe.record(container).hasSound(firstSlot, endSlot)) {
                return false;
            }
            CountRecord record = stripe.change(container);
            int before = record.heapBytes();
            record.markDamaged(firstSlot, endSlot);
            stripe.account(container, record, before);
            return true;
        }
    }

    /** Returns the totals of all existing copies, and of the garbage among them. Exact while no change is running. */
    public StoredCopies stored() {
        return stored.now();
    }

    /**
     * Records a chunk's length. Must be called once for each stored chunk, before its first reference; a change like
     * any other.
     *
     * @param bytes length of the chunk before compression
     */
    public void setLength(long chunkId, int bytes) throws IOException {
        long container = ChunkId.container(chunkId);
        Stripe stripe = stripe(container);
        synchronized (stripe) {
            CountRecord record = stripe.change(container);
            int before = record.heapBytes();
            record.setLength(ChunkId.slot(chunkId), bytes);
            stripe.account(container, record, before);
        }
    }

    /**
     * Returns whether that copy exists: it was referenced at some time and not tombstoned since. Its count may be 0.
     */
    public boolean isAlive(long chunkId) throws IOException {
        long container = ChunkId.container(chunkId);
        Stripe stripe = read(container);
        synchronized (stripe) {
            return stripe.record(container).isAlive(ChunkId.slot(chunkId));
        }
    }

    /** Returns whether that copy exists, is not known to be damaged, and may get further references. */
    public boolean isReferable(long chunkId) throws IOException {
        long container = ChunkId.container(chunkId);
        int slot = ChunkId.slot(chunkId);
        Stripe stripe = read(container);
        synchronized (stripe) {
            CountRecord record = stripe.record(container);
            return record.isAlive(slot) && !record.isDamaged(slot) && record.count(slot) < MAX_COUNT;
        }
    }

    /** Returns whether each copy that a page refers to may get further references. */
    boolean hasRoomFor(RecipePage page) throws IOException {
        int entry = 0;
        while (entry < page.count()) {
            long container = ChunkId.container(page.chunkId(entry));
            if (page.isZero(entry)) {
                entry++;
                continue;
            }
            Stripe stripe = read(container);
            synchronized (stripe) {
                CountRecord record = stripe.record(container);
                while (entry < page.count() && ChunkId.container(page.chunkId(entry)) == container) {
                    if (record.count(ChunkId.slot(page.chunkId(entry))) >= MAX_COUNT) {
                        return false;
                    }
                    entry++;
                }
            }
        }
        return true;
    }

    /**
     * Returns the number of references to that copy by all recipe entries; 0 if it does not exist. Decides whether the
     * copy is garbage.
     */
    public int count(long chunkId) throws IOException {
        long container = ChunkId.container(chunkId);
        Stripe stripe = read(container);
        synchronized (stripe) {
            return stripe.record(container).count(ChunkId.slot(chunkId));
        }
    }

    /**
     * Returns how often that copy occurs in files, regardless of the number of recipe pages that a single occurrence
     * spans: see {@link ContainerCounts#occurrences}. Decides about promotion. 0 if and only if {@link #count} is 0.
     */
    public int occurrences(long chunkId) throws IOException {
        long container = ChunkId.container(chunkId);
        Stripe stripe = read(container);
        synchronized (stripe) {
            return stripe.record(container).occurrences(ChunkId.slot(chunkId));
        }
    }

    /**
     * Gets {@link #occurrences(long)} of the first {@code n} copies, with one lock for each run of one container's
     * chunks; 0 for a copy that does not exist.
     */
    public void occurrences(long[] chunkIds, int n, int[] occurrences) throws IOException {
        for (int i = 0; i < n; ) {
            long container = ChunkId.container(chunkIds[i]);
            Stripe stripe = read(container);
            synchronized (stripe) {
                CountRecord record = stripe.record(container);
                while (i < n && ChunkId.container(chunkIds[i]) == container) {
                    occurrences[i] = record.occurrences(ChunkId.slot(chunkIds[i]));
                    i++;
                }
            }
        }
    }

    /** Changes a count; with {@code delta} 0 it only makes a new copy alive. A tombstoned copy cannot be referenced. */
    public void add(long chunkId, int delta) throws IOException {
        long container = ChunkId.container(chunkId);
        Stripe stripe = read(container);
        synchronized (stripe) {
            CountRecord record = stripe.change(container);
            int before = record.heapBytes();
            add(record, chunkId, delta, false);
            stripe.account(container, record, before);
        }
    }

    private void add(CountRecord record, long chunkId, int delta, boolean continuation) {
        int slot = ChunkId.slot(chunkId);
        stored.change(record, slot, () -> {
            if (continuation) {
                record.addContinuation(ChunkId.container(chunkId), slot, delta);
            } else {
                record.add(ChunkId.container(chunkId), slot, delta);
            }
        });
        tellIfUnreferenced(record, chunkId, delta);
    }

    private void tellIfUnreferenced(CountRecord record, long chunkId, int delta) {
        LongConsumer listener = unreferenced;
        if (delta < 0 && listener != null && record.count(ChunkId.slot(chunkId)) == 0) {
            listener.accept(chunkId);
        }
    }

    /** Marks a copy with count 0 as tombstoned: its bytes may be reclaimed once this is committed. */
    public void tombstone(long chunkId) throws IOException {
        long container = ChunkId.container(chunkId);
        Stripe stripe = read(container);
        synchronized (stripe) {
            CountRecord record = stripe.change(container);
            int before = record.heapBytes();
            int slot = ChunkId.slot(chunkId);
            stored.change(record, slot, () -> record.tombstone(container, slot));
            stripe.account(container, record, before);
        }
    }

    /**
     * Visits the containers that have a record, in ascending order of ids. For the checker: no change may run at the
     * same time.
     */
    public void forEachContainer(ContainerCountsVisitor visitor) throws IOException {
        NavigableMap<Long, CountRecord> uncommitted = uncommitted();
        try (Cursor cursor = overlay.database().scan(Family.COUNT, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                long container = Keys.longAt(cursor.key(), 0);
                visitAll(uncommitted.headMap(container), visitor);
                CountRecord newer = uncommitted.remove(container);
                visitor.visit(
                        container,
                        newer != null ? newer : CountRecord.decode(container, cursor.value(), NO_GENERATION));
            }
        }
        visitAll(uncommitted, visitor);
    }

    /**
     * Keeps a container's newest record in memory until {@link #release}; each call needs one call of {@link #release}.
     * While the record is read, other threads can use the counts of its stripe.
     */
    void hold(long container) throws IOException {
        Stripe stripe = stripe(container);
        synchronized (stripe) {
            Held held = stripe.held.computeIfAbsent(container, id -> new Held());
            held.holders++;
            if (held.record == null) {
                held.record = stripe.inMemory(container);
            }
            if (held.record != null) {
                return;
            }
        }
        try {
            CountRecord loaded = committed(container);
            synchronized (stripe) {
                Held held = stripe.held.get(container);
                if (held != null && held.record == null) {
                    held.record = loaded;
                }
            }
        } catch (IOException | RuntimeException e) {
            release(container);
            throw e;
        }
    }

    /** Ends a {@link #hold}. */
    void release(long container) {
        Stripe stripe = stripe(container);
        synchronized (stripe) {
            Held held = stripe.held.get(container);
            if (held != null && --held.holders == 0) {
                stripe.held.remove(container);
            }
        }
    }

    /**
     * Returns the container's stripe, with its record in the cache. The stripe is not locked while the database is
     * read.
     */
    private Stripe read(long container) throws IOException {
        Stripe stripe = stripe(container);
        synchronized (stripe) {
            if (stripe.inMemory(container) != null) {
                return stripe;
            }
        }
        hold(container);
        synchronized (stripe) {
            stripe.record(container);
        }
        release(container);
        return stripe;
    }

    /** Reads a container's record from the database. */
    private CountRecord committed(long container) throws IOException {
        byte[] value = overlay.database().get(Family.COUNT, Keys.of(container));
        return value == null ? CountRecord.empty(NO_GENERATION) : CountRecord.decode(container, value, NO_GENERATION);
    }

    /**
     * Reads the records of all containers of a page and makes them part of the pending generation, so that an
     * unreadable disk cannot make {@link #addAll} fail halfway.
     */
    void prepare(RecipePage page) throws IOException {
        long prepared = 0;
        for (int entry = 0; entry < page.count(); entry++) {
            long container = ChunkId.container(page.chunkId(entry));
            if (!page.isZero(entry) && container != prepared) {
                Stripe stripe = read(container);
                synchronized (stripe) {
                    stripe.change(container);
                }
                prepared = container;
            }
        }
    }

    /**
     * Adds {@code delta} for each reference of a prepared page, with one lock for each run of one container's chunks.
     */
    void addAll(RecipePage page, int delta) throws IOException {
        int entry = 0;
        while (entry < page.count()) {
            entry = page.isZero(entry) ? entry + 1 : addRun(page, entry, delta);
        }
    }

    private int addRun(RecipePage page, int from, int delta) throws IOException {
        long container = ChunkId.container(page.chunkId(from));
        Stripe stripe = stripe(container);
        synchronized (stripe) {
            CountRecord record = stripe.change(container);
            int before = record.heapBytes();
            int entry = from;
            while (entry < page.count() && ChunkId.container(page.chunkId(entry)) == container) {
                add(record, page.chunkId(entry), delta, page.chunkOffset(entry) != 0);
                entry++;
            }
            stripe.account(container, record, before);
            return entry;
        }
    }

    /** Returns copies of the records that are not in the database yet, in their current state. */
    private NavigableMap<Long, CountRecord> uncommitted() {
        Layers layers = overlay.layers();
        NavigableMap<Long, CountRecord> records = new TreeMap<>();
        if (layers.frozen() != null) {
            records.putAll(layers.frozen().counts());
        }
        for (Map.Entry<Long, CountRecord> change : layers.pending().counts().entrySet()) {
            synchronized (stripe(change.getKey())) {
                records.put(change.getKey(), change.getValue().copy(NO_GENERATION));
            }
        }
        return records;
    }

    private static void visitAll(Map<Long, CountRecord> records, ContainerCountsVisitor visitor) throws IOException {
        for (Map.Entry<Long, CountRecord> record : records.entrySet()) {
            visitor.visit(record.getKey(), record.getValue());
        }
        records.clear();
    }

    private Stripe stripe(long container) {
        return stripes[(int) (ClockTable.hash(container, 0) >>> (64 - STRIPE_BITS))];
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
     * A part of the containers. Its monitor guards its cache and every record of these containers that is not frozen.
     */
    private final class Stripe {
        private final ClockTable<CountRecord> cache;
        /** The newest records of some containers, which stay in memory even if the cache evicts them. */
        private final Map<Long, Held> held = new HashMap<>();

        Stripe(long cacheBytes) {
            cache = new ClockTable<>(cacheBytes);
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
        @Nullable
        CountRecord inMemory(long container) {
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
            if (copy.slots() == 0) {
                copy.setWriting(writings.writing(container));
            }
            pending.putCounts(container, copy);
            cache.put(container, 0, copy, copy.heapBytes());
            Held kept = held.isEmpty() ? null : held.get(container);
            if (kept != null) {
                kept.record = copy;
            }
            return copy;
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
}
