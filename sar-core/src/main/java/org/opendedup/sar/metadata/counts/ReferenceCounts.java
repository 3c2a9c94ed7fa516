package org.opendedup.sar.metadata.counts;

import com.carrotsearch.hppc.LongArrayList;
import java.io.IOException;
import java.util.BitSet;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.record.ContainerCounts;
import org.opendedup.sar.metadata.record.CountRecord;
import org.opendedup.sar.metadata.record.DamageNote;
import org.opendedup.sar.metadata.record.DamagedPlace;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.StoredCopies;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reference counts: how often recipes refer to each stored copy of a chunk, in one record per container. A copy is
 * alive from its first reference until it is tombstoned; while it is alive with count 0 it is garbage, and can be
 * referenced again.
 *
 * <p>Each call is atomic; changes must not run during {@link MetadataStore#freeze()}. A change that would make a count
 * negative is a programmer error, and throws an {@link IllegalStateException}.
 *
 * <p>Containers are distributed over {@link CountStripe}s, whose monitors guard their records.
 */
public final class ReferenceCounts {
    private static final Logger log = LoggerFactory.getLogger(ReferenceCounts.class);
    private static final int STRIPE_BITS = 6;
    /** Most containers of which the log says that their counts cannot be read. */
    private static final int MOST_UNREAD = 1000;

    /**
     * Maximum number of references to a copy. A copy with this number gets no further ones: new data is stored in a new
     * copy, and a recipe is not copied. The distance to the maximum that a record can hold is larger than the number of
     * references that all concurrent changes can add.
     */
    public static final int MAX_COUNT = Integer.MAX_VALUE - (1 << 26);

    private final Overlay overlay;
    private final CopyCounters stored;
    private final DamageRecords damage;
    private final CountStripe[] stripes = new CountStripe[1 << STRIPE_BITS];
    private final Set<Long> unreadContainers = ConcurrentHashMap.newKeySet();
    private volatile @Nullable LongConsumer unreferenced;
    private volatile @Nullable LongConsumer wantedDamaged;
    private volatile LongPredicate kept = chunk -> false;

    /** @param stored totals of stored copies, as of the last commit */
    public ReferenceCounts(Overlay overlay, StoredCopies stored, DamageRecords damage, long cacheBytes) {
        this.overlay = overlay;
        this.damage = damage;
        this.stored = new CopyCounters(stored);
        for (int i = 0; i < stripes.length; i++) {
            stripes[i] = new CountStripe(overlay, cacheBytes >> STRIPE_BITS);
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
     * Sets the listener for each copy that a writer wants to refer to and that is known to be damaged: the writer
     * stores another one. It is called with a lock of the counts held: it must not wait, and must not call this object.
     */
    public void listenToDamaged(LongConsumer toTell) {
        wantedDamaged = toTell;
    }

    /**
     * Sets which copies without references are kept nevertheless: {@link #condemn} leaves them out, and so does
     * {@link #tombstoneCondemned}, because a writer may give one a reference in between and take it away. Called with a
     * lock of the counts held: it must not wait, and must not call this object.
     */
    public void keep(LongPredicate toKeep) {
        kept = toKeep;
    }

    /** Returns the slots of a container whose copies exist. */
    public BitSet alive(long container) throws IOException {
        CountStripe stripe = read(container);
        synchronized (stripe) {
            return stripe.record(container).alive();
        }
    }

    /** Returns the slots of a container that are known to be damaged. */
    public BitSet damaged(long container) throws IOException {
        CountStripe stripe = read(container);
        synchronized (stripe) {
            return stripe.record(container).damaged();
        }
    }

    /** Returns a copy of a container's counts. */
    public ContainerCounts ofContainer(long container) throws IOException {
        CountStripe stripe = read(container);
        synchronized (stripe) {
            return stripe.record(container).copy(CountRecord.NO_GENERATION);
        }
    }

    /**
     * Records that copies are damaged, so that no new reference is made to them; a change like any other. Does nothing
     * in a container without existing copies: its record may be removed.
     *
     * @return whether any of them was not known to be damaged
     */
    public boolean markDamaged(long container, int firstSlot, int endSlot) throws IOException {
        return markDamaged(
                container,
                firstSlot,
                endSlot,
                DamageNote.now(DamageNote.NO_FRAME, DamageNote.How.OTHER, "it is not what was written"));
    }

    /** As above, and records how the damage was found: see {@link DamageRecords}. */
    public boolean markDamaged(long container, int firstSlot, int endSlot, DamageNote note) throws IOException {
        CountStripe stripe = read(container);
        synchronized (stripe) {
            CountRecord found = stripe.record(container);
            if (!found.hasSound(firstSlot, endSlot) || found.alive().isEmpty()) {
                return false;
            }
            DamageRecords.Known known = damage.known(container);
            BitSet damagedBefore = found.damaged();
            CountRecord record = stripe.change(container);
            int before = record.heapBytes();
            for (int slot = firstSlot; slot < endSlot; slot++) {
                int damaged = slot;
                stored.change(record, slot, () -> record.markDamaged(damaged, damaged + 1));
            }
            stripe.account(container, record, before);
            damage.changed(
                    container,
                    known,
                    damagedBefore,
                    record.damaged(),
                    new DamagedPlace(container, firstSlot, endSlot, note));
            return true;
        }
    }

    /** Records that copies that were known to be damaged have the right bytes; a change like any other. */
    public void markSound(long container, BitSet slots) throws IOException {
        CountStripe stripe = read(container);
        synchronized (stripe) {
            DamageRecords.Known known = damage.known(container);
            CountRecord record = stripe.change(container);
            BitSet damagedBefore = record.damaged();
            int before = record.heapBytes();
            slots.stream().forEach(slot -> stored.change(record, slot, () -> record.markSound(slot)));
            stripe.account(container, record, before);
            damage.changed(container, known, damagedBefore, record.damaged(), null);
        }
    }

    /** Returns the totals of all existing copies, and of the garbage among them. Exact while no change is running. */
    public StoredCopies stored() {
        return stored.now();
    }

    /**
     * Records a new chunk's length, and its first references in the same step; with none it exists as garbage. Must be
     * called once for each stored chunk; a change like any other.
     *
     * @param bytes length of the chunk before compression
     */
    public void addNew(long chunkId, int bytes, int references) throws IOException {
        long container = ChunkId.container(chunkId);
        int slot = ChunkId.slot(chunkId);
        CountStripe stripe = read(container);
        synchronized (stripe) {
            CountRecord record = stripe.change(container);
            int before = record.heapBytes();
            record.setLength(slot, bytes);
            add(record, chunkId, references, false);
            stripe.account(container, record, before);
        }
    }

    /**
     * Returns whether that copy exists: it was referenced at some time and not tombstoned since. Its count may be 0.
     */
    public boolean isAlive(long chunkId) throws IOException {
        long container = ChunkId.container(chunkId);
        CountStripe stripe = read(container);
        synchronized (stripe) {
            return stripe.record(container).isAlive(ChunkId.slot(chunkId));
        }
    }

    /** Returns whether that copy exists, is neither condemned nor known to be damaged, and has room for references. */
    public boolean isReferable(long chunkId) throws IOException {
        long container = ChunkId.container(chunkId);
        int slot = ChunkId.slot(chunkId);
        CountStripe stripe = read(container);
        synchronized (stripe) {
            CountRecord record = stripe.record(container);
            LongConsumer listener = wantedDamaged;
            if (listener != null && record.isAlive(slot) && record.isDamaged(slot)) {
                listener.accept(chunkId);
            }
            return record.isAlive(slot)
                    && !record.isDamaged(slot)
                    && record.count(slot) < MAX_COUNT
                    && !stripe.isCondemned(container, slot);
        }
    }

    /**
     * Returns whether each copy that a page refers to may get further references: it exists, is not about to become a
     * tombstone, and has room for them. Damaged copies may. A page of a snapshot is read without a lock, so that its
     * copies may have lost their references since: call this, and {@link #addAll} afterwards, within one use of the
     * grace period that the collector waits for.
     */
    public boolean hasRoomFor(RecipePage page) throws IOException {
        int entry = 0;
        while (entry < page.count()) {
            long container = ChunkId.container(page.chunkId(entry));
            if (page.isZero(entry)) {
                entry++;
                continue;
            }
            CountStripe stripe = read(container);
            synchronized (stripe) {
                CountRecord record = stripe.record(container);
                while (entry < page.count() && ChunkId.container(page.chunkId(entry)) == container) {
                    int slot = ChunkId.slot(page.chunkId(entry));
                    int count = record.count(slot);
                    boolean isGoing = count == 0 && stripe.isCondemned(container, slot);
                    if (!record.isAlive(slot) || isGoing || count >= MAX_COUNT) {
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
        CountStripe stripe = read(container);
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
        CountStripe stripe = read(container);
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
            CountStripe stripe = read(container);
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
        CountStripe stripe = read(container);
        synchronized (stripe) {
            CountRecord record = stripe.change(container);
            int before = record.heapBytes();
            add(record, chunkId, delta, false);
            stripe.account(container, record, before);
        }
    }

    /**
     * Changes the count of a copy for a client that counts its references itself, without recipes; a change like any
     * other. The count does not fall below 0: such a client may have lost counts in a crash. A copy that never had a
     * reference becomes alive, also with {@code delta} 0; its length must be set.
     *
     * @return the count afterwards; -1, and nothing is changed, if the copy is a tombstone, or has no room for that
     *     many references
     */
    public int claim(long chunkId, long delta) throws IOException {
        long container = ChunkId.container(chunkId);
        int slot = ChunkId.slot(chunkId);
        CountStripe stripe = read(container);
        synchronized (stripe) {
            CountRecord found = stripe.record(container);
            long count = Math.max(0, found.count(slot) + delta);
            if (found.isTombstone(slot) || found.length(slot) == 0 || count > MAX_COUNT) {
                return -1;
            }
            CountRecord record = stripe.change(container);
            int before = record.heapBytes();
            add(record, chunkId, (int) count - record.count(slot), false);
            stripe.account(container, record, before);
            return (int) count;
        }
    }

    /**
     * Brings the counts of a container into line with a client's maps, as far as they decide what is garbage: an
     * existing copy that is not named gets the count 0, and one that is named and has the count 0 gets 1. A change like
     * any other.
     *
     * @return number of copies whose count was changed
     */
    public int recount(long container, BitSet named) throws IOException {
        CountStripe stripe = read(container);
        synchronized (stripe) {
            int changed = 0;
            for (int slot = 0; slot < stripe.record(container).slots(); slot++) {
                CountRecord found = stripe.record(container);
                int count = found.count(slot);
                if (found.isAlive(slot) && named.get(slot) != count > 0) {
                    add(ChunkId.of(container, slot), count > 0 ? -count : 1);
                    changed++;
                }
            }
            return changed;
        }
    }

    /** Returns the length of a copy in bytes before compression; 0 if it does not exist. */
    public int length(long chunkId) throws IOException {
        long container = ChunkId.container(chunkId);
        int slot = ChunkId.slot(chunkId);
        CountStripe stripe = read(container);
        synchronized (stripe) {
            CountRecord record = stripe.record(container);
            return record.isAlive(slot) ? record.length(slot) : 0;
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

    /**
     * Condemns those of a container's first {@code slots} slots that have no reference, because they are garbage or
     * because they never had one: from now on {@link #isReferable} is false for them. This is no change, and a mount
     * forgets it. A writer that called {@link #isReferable} before may still refer to a condemned slot: wait until all
     * these writers are done before {@link #tombstoneCondemned}. Must be followed by that call or by {@link #pardon}.
     *
     * @return a copy of the container's condemned slots
     */
    public BitSet condemn(long container, int slots) throws IOException {
        CountStripe stripe = read(container);
        synchronized (stripe) {
            return stripe.condemn(container, slots, kept);
        }
    }

    /** Forgets which slots of a container are condemned, and changes nothing. */
    public void pardon(long container) {
        CountStripe stripe = stripe(container);
        synchronized (stripe) {
            stripe.pardon(container);
        }
    }

    /**
     * Makes each condemned slot of a container that still has no reference, and is not kept, a tombstone: it cannot be
     * referenced any more, and its bytes may be reclaimed once this is committed. Forgets which slots are condemned. A
     * change like any other. If it throws, nothing is changed and the slots are still condemned.
     *
     * @return the slots that this call made tombstones
     */
    public BitSet tombstoneCondemned(long container) throws IOException {
        CountStripe stripe = read(container);
        synchronized (stripe) {
            BitSet slots = stripe.unreferenced(container, kept);
            if (!slots.isEmpty()) {
                BitSet damagedBefore = stripe.record(container).damaged();
                DamageRecords.Known known =
                        damagedBefore.isEmpty() ? DamageRecords.Known.NOTHING : damage.known(container);
                CountRecord record = stripe.change(container);
                int before = record.heapBytes();
                slots.stream().forEach(slot -> stored.change(record, slot, () -> record.tombstone(container, slot)));
                stripe.account(container, record, before);
                damage.changed(container, known, damagedBefore, record.damaged(), null);
            }
            stripe.pardon(container);
            return slots;
        }
    }

    /**
     * Returns the ids of containers that have a record as of the last commit: {@code most} from {@code first} on, in
     * ascending order.
     */
    public LongArrayList committed(long first, int most) throws IOException {
        LongArrayList ids = new LongArrayList();
        try (Cursor cursor = overlay.database().scan(Family.COUNT, Keys.of(first), Keys.END)) {
            while (ids.size() < most && cursor.next()) {
                ids.add(Keys.longAt(cursor.key(), 0));
            }
        }
        return ids;
    }

    /** Returns the highest slot of a container that its record knows, plus 1. */
    public int slots(long container) throws IOException {
        CountStripe stripe = read(container);
        synchronized (stripe) {
            return stripe.record(container).slots();
        }
    }

    /** Keeps a container's newest record in memory until {@link #release}, which must follow each call. */
    public void hold(long container) throws IOException {
        stripe(container).hold(container);
    }

    /** Ends a {@link #hold}. */
    public void release(long container) {
        stripe(container).release(container);
    }

    /** Returns the container's stripe, with its record in the cache. */
    private CountStripe read(long container) throws IOException {
        CountStripe stripe = stripe(container);
        stripe.load(container);
        return stripe;
    }

    /**
     * Counts the references of a page that takes the place of another; a change like any other. After an IOException
     * nothing is changed.
     *
     * <p>What {@code before} refers to in containers whose counts are damaged, or in a block that the disk does not
     * return, is not counted: nothing is known about those counts, and a repair makes them anew from all references
     * that are left. So what lies in other containers can be freed (docs/adr/0118).
     */
    public void replace(RecipePage before, RecipePage now) throws IOException {
        // First all that reads the disk.
        Set<Long> unread = new HashSet<>(0);
        prepare(before, (container, why) -> {
            NoAnswer.rethrow(why);
            try {
                // A disk may return at the second attempt what it did not at the first.
                prepare(container);
            } catch (IOException again) {
                NoAnswer.rethrow(again);
                unread.add(container);
                noteUnread(container, again);
            }
        });
        prepare(now, (container, why) -> {
            throw why;
        });
        addAll(now, 1, Set.of());
        addAll(before, -1, unread);
    }

    /** Receives a container whose counts cannot be read. */
    @FunctionalInterface
    private interface Unread {
        void accept(long container, IOException why) throws IOException;
    }

    /**
     * Reads the records of all containers of a page and makes them part of the pending generation, so that an
     * unreadable disk cannot make {@link #addAll} fail halfway.
     */
    private void prepare(RecipePage page, Unread unread) throws IOException {
        long prepared = 0;
        for (int entry = 0; entry < page.count(); entry++) {
            long container = ChunkId.container(page.chunkId(entry));
            if (!page.isZero(entry) && container != prepared) {
                try {
                    prepare(container);
                } catch (IOException e) {
                    unread.accept(container, e);
                }
                prepared = container;
            }
        }
    }

    private void prepare(long container) throws IOException {
        CountStripe stripe = read(container);
        synchronized (stripe) {
            stripe.change(container);
        }
    }

    private void noteUnread(long container, IOException why) {
        if (unreadContainers.size() < MOST_UNREAD && unreadContainers.add(container)) {
            log.error(
                    "the counts of container {} cannot be read: what is freed in it stays stored until"
                            + " 'sdfs-check VOLUME --repair' counts again",
                    container,
                    why);
        }
    }

    /**
     * Adds {@code delta} for each reference of a prepared page, with one lock for each run of one container's chunks.
     *
     * @param without containers to leave out
     */
    private void addAll(RecipePage page, int delta, Set<Long> without) throws IOException {
        int entry = 0;
        while (entry < page.count()) {
            boolean isLeftOut = page.isZero(entry)
                    || !without.isEmpty() && without.contains(ChunkId.container(page.chunkId(entry)));
            entry = isLeftOut ? entry + 1 : addRun(page, entry, delta);
        }
    }

    private int addRun(RecipePage page, int from, int delta) throws IOException {
        long container = ChunkId.container(page.chunkId(from));
        CountStripe stripe = stripe(container);
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

    private CountStripe stripe(long container) {
        return stripes[(int) (ClockTable.hash(container, 0) >>> (64 - STRIPE_BITS))];
    }
}
