package org.opendedup.sar.metadata.pending;

import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.MapCursor;

/**
 * A range of keys, as committed in the database, held in memory: readers of the range do not wait for a disk. Each
 * commit reports its changes to this object, so it stays equal to the database. Not usable for {@link Family#COUNT},
 * whose changes are kept decoded, and only for keys of one length.
 */
public final class HeldRange {
    /**
     * Bytes of records from which on no further one is read: some times those of a usual step. The record of a recipe
     * page has up to some MiB, if it refers to single bytes.
     */
    static final int MAX_BYTES = 2 << 20;

    private final Family family;
    private final byte[] from;
    private final byte[] to;
    private final boolean isOfSnapshot;
    /** The records by key. A key that was removed since loading has the value {@link Generation#DELETED}. */
    private final ConcurrentNavigableMap<byte[], byte[]> records = new ConcurrentSkipListMap<>(Arrays::compareUnsigned);
    /** Key up to which the range is in memory, exclusive; null until it is loaded. */
    private volatile byte @Nullable [] end;
    /** The last key in memory; null if all of the range is, or nothing. */
    private volatile byte @Nullable [] last;
    /** Whether readers use the database from now on. Guarded by this. */
    private boolean isOver;

    /**
     * Creates a range from {@code from} (inclusive) to {@code to} (exclusive).
     *
     * @param isOfSnapshot whether it is in a snapshot: then it is in memory until the next commit only
     */
    HeldRange(Family family, byte[] from, byte[] to, boolean isOfSnapshot) {
        this.family = family;
        this.isOfSnapshot = isOfSnapshot;
        this.from = from;
        this.to = to;
    }

    /**
     * Reads the first {@code max} records of the range, or fewer if they have many bytes; at least one if there is one.
     * Commits must already report their changes to this object.
     *
     * @param cursor over the committed records of the range
     * @param max maximum number of records
     * @param removed keys whose removal waits for a commit; they do not count, because no reader sees their records
     */
    void load(Cursor cursor, int max, Predicate<byte[]> removed) throws IOException {
        byte[] read = null;
        int count = 0;
        long bytes = 0;
        while (count < max && bytes < MAX_BYTES && cursor.next()) {
            byte[] key = cursor.key();
            if (!removed.test(key)) {
                byte[] value = cursor.value();
                // A record that a commit has reported in the meantime is newer than the cursor's.
                records.putIfAbsent(key, value);
                count++;
                bytes += value.length;
                read = count == max || bytes >= MAX_BYTES ? key : null;
            }
        }
        setLast(read);
    }

    /** @param read the last key that was read; null if there are no more */
    private synchronized void setLast(byte @Nullable [] read) {
        if (!isOver) {
            byte[] reached = read == null ? to : behind(read);
            end = reached;
            last = Arrays.equals(reached, to) ? null : read;
        }
    }

    private synchronized void giveUp() {
        isOver = true;
        end = null;
        last = null;
    }

    /** Returns the least key that is greater than {@code key}: all keys of a range have the same length. */
    private static byte[] behind(byte[] key) {
        byte[] next = key.clone();
        int at = next.length - 1;
        while (++next[at] == 0) {
            at--;
        }
        return next;
    }

    /**
     * Adds the changes of a commit, which are now in the database. Called while the generation is still in the overlay.
     */
    void committed(Generation generation) {
        if (isOfSnapshot) {
            // A record that was rewritten, or moved among the versions, is not found by the keys of these.
            giveUp();
            return;
        }
        // Nobody asks for what follows the part in memory. A truncation may remove it all, while this is held.
        byte[] reached = end;
        records.putAll(generation.changes(family).subMap(from, reached == null ? to : reached));
    }

    boolean covers(Family ofFamily, byte[] key) {
        byte[] reached = end;
        return reached != null
                && family == ofFamily
                && Arrays.compareUnsigned(from, key) <= 0
                && Arrays.compareUnsigned(key, reached) < 0;
    }

    boolean covers(Family ofFamily, byte[] first, byte[] behindLast) {
        byte[] reached = end;
        return covers(ofFamily, first) && reached != null && Arrays.compareUnsigned(behindLast, reached) <= 0;
    }

    /** Returns the record of a covered key. */
    byte @Nullable [] get(byte[] key) {
        byte[] value = records.get(key);
        return value == Generation.DELETED ? null : value;
    }

    /**
     * Returns the records from {@code first} (inclusive) to {@code behindLast} (exclusive) in order; the range must be
     * covered.
     */
    Cursor scan(byte[] first, byte[] behindLast) {
        return new MapCursor(records.subMap(first, behindLast));
    }

    /** Returns the last key that was read, if the range has more after it; null if all of it is in memory. */
    public byte @Nullable [] lastOfPart() {
        return last;
    }
}
