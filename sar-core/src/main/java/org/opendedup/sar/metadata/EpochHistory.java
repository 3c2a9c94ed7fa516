package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.EpochBegin;
import org.opendedup.sar.metadata.record.NumberedKeys;
import org.opendedup.sar.metadata.record.SystemRecords;

/**
 * The epochs of a volume's metadata, with the first container id that each could allocate.
 *
 * <p>This is enough to recognize foreign data (docs/adr/0016). Ids are allocated from a reserved block, and after an
 * opening allocation continues after that block. So after two histories separate, they allocate different ids only if
 * each begins above all ids that the other may have used; {@link #begin} receives that bound. For data stamped with an
 * earlier epoch of this history, ids below the first id of the following epoch then mean the same as here, whatever
 * changes that data contains from later times.
 */
public final class EpochHistory implements Timeline {
    private static final NumberedKeys KEYS = new NumberedKeys("epoch", "an epoch");

    private final KeyValueStore database;
    private final UUID volume;
    /** Epochs by number. Guarded by this. */
    private final NavigableMap<Long, EpochBegin> epochs = new TreeMap<>();

    private EpochHistory(KeyValueStore database, UUID volume) {
        this.database = database;
        this.volume = volume;
    }

    /** Reads the epochs of a database. */
    public static EpochHistory open(KeyValueStore database, UUID volume) throws IOException {
        EpochHistory history = new EpochHistory(database, volume);
        try (Cursor cursor = database.scan(Family.SYSTEM, KEYS.first(), KEYS.end())) {
            while (cursor.next()) {
                history.epochs.put(KEYS.number(cursor.key()), SystemRecords.decodeEpoch(cursor.value()));
            }
        }
        if (history.epochs.isEmpty()) {
            throw new CorruptionException("metadata database", -1, "the record of an epoch", "none");
        }
        return history;
    }

    /** Adds the first epoch of a new volume to the batch that creates the volume. */
    static void format(Batch batch, long token) throws IOException {
        batch.put(Family.SYSTEM, KEYS.of(1), SystemRecords.encodeEpoch(new EpochBegin(token, 1)));
    }

    @Override
    public synchronized Epoch current() {
        return new Epoch(volume, epochs.lastKey(), epochs.lastEntry().getValue().token());
    }

    /** Returns the limit below which no container id was allocated in the present epoch. */
    public synchronized long firstContainer() {
        return epochs.lastEntry().getValue().firstContainer();
    }

    @Override
    public synchronized long sharedBelow(Epoch stamp) {
        EpochBegin begin = epochs.get(stamp.number());
        if (!stamp.volume().equals(volume) || begin == null || begin.token() != stamp.token()) {
            return 0;
        }
        var next = epochs.higherEntry(stamp.number());
        return next == null ? Long.MAX_VALUE : next.getValue().firstContainer();
    }

    /**
     * Returns whether a fast tier that was used last in an epoch is an older copy: it was used since, in another epoch
     * of this history. One that was used in an epoch that this history does not have is not known to be older.
     *
     * @param used null if it was in none
     */
    public synchronized boolean isOlderFastTier(@Nullable Epoch used) throws IOException {
        byte[] last = database.get(Family.SYSTEM, SystemRecords.FAST_TIER);
        if (last == null || used != null && sharedBelow(used) == 0) {
            return false;
        }
        return used == null || used.number() < SystemRecords.decodeNumber(last);
    }

    /** Records, durably, that the fast tier is used in the present epoch. It says so itself already. */
    public synchronized void noteFastTier() throws IOException {
        try (Batch batch = database.batch()) {
            batch.put(Family.SYSTEM, SystemRecords.FAST_TIER, SystemRecords.encodeNumber(epochs.lastKey()));
            batch.commit();
        }
    }

    /**
     * Begins the next epoch, durably.
     *
     * @param firstContainer ids from this one on are free in every history that can be known
     */
    synchronized void begin(long token, long firstContainer) throws IOException {
        long number = epochs.lastKey() + 1;
        EpochBegin begin = new EpochBegin(token, firstContainer);
        try (Batch batch = database.batch()) {
            batch.put(Family.SYSTEM, KEYS.of(number), SystemRecords.encodeEpoch(begin));
            batch.commit();
        }
        epochs.put(number, begin);
    }
}
