package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.BitSet;
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
 * How often each stored copy of a chunk is referenced by recipes: one record a container. A copy is alive from its first
 * reference until it is tombstoned; while alive with count 0 it is garbage, and can be referenced again.
 *
 * <p>Each call is atomic; changes must not run during {@link MetadataStore#freeze()}. A count that would fall below zero
 * is a programmer error, and an {@link IllegalStateException}.
 *
 * <p>Containers are spread over stripes, each with a lock and a cache of decoded records. The cache always holds the
 * newest record, so it is asked first; what it evicts is found again in the pending generation, the frozen one or the
 * database. A record belongs to the generation that changed it. The first change of a later generation makes a copy, so
 * that the frozen one can be written out without a lock.
 */
public final class ReferenceCounts {
    private static final int STRIPE_BITS = 6;

    /** The owner of records read from the database. */
    private static final long NO_GENERATION = 0;

    /**
     * A copy with so many references gets no further ones: new data is stored afresh, a recipe is not copied. So far below
     * what a record can hold that all that is under way at a time cannot reach that.
     */
    static final int MAX_COUNT = Integer.MAX_VALUE - (1 << 26);

    private final Overlay overlay;
    private final Stripe[] stripes = new Stripe[1 << STRIPE_BITS];
    private volatile @Nullable LongConsumer unreferenced;
    private volatile WritingSource writings = container -> Writing.UNKNOWN;

    /** Says which writing of a container exists. */
    @FunctionalInterface
    public interface WritingSource {
        Writing writing(long container) throws IOException;
    }

    ReferenceCounts(Overlay overlay, long cacheBytes) {
        this.overlay = overlay;
        for (int i = 0; i < stripes.length; i++) {
            stripes[i] = new Stripe(cacheBytes >> STRIPE_BITS);
        }
    }

    /**
     * Sets who is told of each copy whose count falls to zero. It is called with a lock of the counts held: it must not wait, nor
     * call back.
     */
    public void listen(LongConsumer toTell) {
        unreferenced = toTell;
    }

    /** Sets who is asked, with a lock of the counts held, for the writing of a container that gets its first reference. */
    public void writingsFrom(WritingSource source) {
        writings = source;
    }

    /** The writing of a container that references mean; {@link Writing#UNKNOWN} if there never was one. */
    public Writing writing(long container) throws IOException {
        Stripe stripe = stripe(container);
        synchronized (stripe) {
            return stripe.record(container).writing();
        }
    }

    /** The slots of a container whose copies exist. */
    public BitSet alive(long container) throws IOException {
        Stripe stripe = stripe(container);
        synchronized (stripe) {
            return stripe.record(container).alive();
        }
    }

    /**
     * Notes that copies are damaged, so that no new reference is made to them; a change like any other.
     *
     * @return whether any of them was not known to be
     */
    public boolean markDamaged(long container, int firstSlot, int endSlot) throws IOException {
        Stripe stripe = stripe(container);
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

    /** Whether that copy exists: it was referenced at some time, and not tombstoned since. Its count may be 0. */
    public boolean isAlive(long chunkId) throws IOException {
        long container = ChunkId.container(chunkId);
        Stripe stripe = stripe(container);
        synchronized (stripe) {
            return stripe.record(container).isAlive(ChunkId.slot(chunkId));
        }
    }

    /** Whether that copy exists, is not known to be damaged, and may get further references. */
    public boolean isReferable(long chunkId) throws IOException {
        long container = ChunkId.container(chunkId);
        int slot = ChunkId.slot(chunkId);
        Stripe stripe = stripe(container);
        synchronized (stripe) {
            CountRecord record = stripe.record(container);
            return record.isAlive(slot) && !record.isDamaged(slot) && record.count(slot) < MAX_COUNT;
        }
    }

    /** Whether each copy that a page refers to may get further references. */
    boolean hasRoomFor(RecipePage page) throws IOException {
        int entry = 0;
        while (entry < page.count()) {
            long container = ChunkId.container(page.chunkId(entry));
            if (page.isZero(entry)) {
                entry++;
                continue;
            }
            Stripe stripe = stripe(container);
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

    /** References to that copy; 0 if it does not exist. */
    public int count(long chunkId) throws IOException {
        long container = ChunkId.container(chunkId);
        Stripe stripe = stripe(container);
        synchronized (stripe) {
            return stripe.record(container).count(ChunkId.slot(chunkId));
        }
    }

    /**
     * References to the first {@code n} of some copies, under one lock for each run of one container's chunks; 0 for one that does
     * not exist.
     */
    public void counts(long[] chunkIds, int n, int[] counts) throws IOException {
        for (int i = 0; i < n; ) {
            long container = ChunkId.container(chunkIds[i]);
            Stripe stripe = stripe(container);
            synchronized (stripe) {
                CountRecord record = stripe.record(container);
                while (i < n && ChunkId.container(chunkIds[i]) == container) {
                    counts[i] = record.count(ChunkId.slot(chunkIds[i]));
                    i++;
                }
            }
        }
    }

    /** Changes a count; with {@code delta} 0 it only makes a new copy alive. A tombstoned copy can't be referenced. */
    public void add(long chunkId, int delta) throws IOException {
        long container = ChunkId.container(chunkId);
        Stripe stripe = stripe(container);
        synchronized (stripe) {
            CountRecord record = stripe.change(container);
            int before = record.heapBytes();
            record.add(container, ChunkId.slot(chunkId), delta);
            tellIfUnreferenced(record, chunkId, delta);
            stripe.account(container, record, before);
        }
    }

    private void tellIfUnreferenced(CountRecord record, long chunkId, int delta) {
        LongConsumer listener = unreferenced;
        if (delta < 0 && listener != null && record.count(ChunkId.slot(chunkId)) == 0) {
            listener.accept(chunkId);
        }
    }

    /** Declares a copy with count 0 gone: its bytes may be reclaimed once this is committed. */
    public void tombstone(long chunkId) throws IOException {
        long container = ChunkId.container(chunkId);
        Stripe stripe = stripe(container);
        synchronized (stripe) {
            CountRecord record = stripe.change(container);
            int before = record.heapBytes();
            record.tombstone(container, ChunkId.slot(chunkId));
            stripe.account(container, record, before);
        }
    }

    /** Visits the containers that have a record, in rising order of ids. For the checker: no change may run meanwhile. */
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
     * Reads the records of all containers of a page and makes them part of the pending generation, so that {@link
     * #addAll} can't fail halfway for a disk that can't be read.
     */
    void prepare(RecipePage page) throws IOException {
        long prepared = 0;
        for (int entry = 0; entry < page.count(); entry++) {
            long container = ChunkId.container(page.chunkId(entry));
            if (!page.isZero(entry) && container != prepared) {
                Stripe stripe = stripe(container);
                synchronized (stripe) {
                    stripe.change(container);
                }
                prepared = container;
            }
        }
    }

    /** Adds {@code delta} for each reference of a prepared page, under one lock for each run of one container's chunks. */
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
                record.add(container, ChunkId.slot(page.chunkId(entry)), delta);
                tellIfUnreferenced(record, page.chunkId(entry), delta);
                entry++;
            }
            stripe.account(container, record, before);
            return entry;
        }
    }

    /** Copies of the records that are not in the database yet, as they are now. */
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

    /** Some of the containers. Its monitor guards its cache and every record of these containers that is not frozen. */
    private final class Stripe {
        private final ClockTable<CountRecord> cache;

        Stripe(long cacheBytes) {
            cache = new ClockTable<>(cacheBytes);
        }

        /** The newest record, for reading. */
        CountRecord record(long container) throws IOException {
            CountRecord record = cache.get(container, 0);
            if (record == null) {
                record = load(container);
                cache.put(container, 0, record, record.heapBytes());
            }
            return record;
        }

        /** The newest record, for changing: a part of the pending generation. */
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
            return copy;
        }

        /** Tells cache and generation of a record that grew. */
        void account(long container, CountRecord record, int heapBytesBefore) {
            int grown = record.heapBytes() - heapBytesBefore;
            if (grown != 0) {
                cache.put(container, 0, record, record.heapBytes());
                overlay.pending().addBytes(grown);
            }
        }

        private CountRecord load(long container) throws IOException {
            Layers layers = overlay.layers();
            CountRecord record = layers.pending().counts(container);
            if (record == null && layers.frozen() != null) {
                record = layers.frozen().counts(container);
            }
            if (record != null) {
                return record;
            }
            byte[] value = overlay.database().get(Family.COUNT, Keys.of(container));
            return value == null
                    ? CountRecord.empty(NO_GENERATION)
                    : CountRecord.decode(container, value, NO_GENERATION);
        }
    }
}
