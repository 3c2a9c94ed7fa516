package org.opendedup.sar.metadata.db;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.FlushOptions;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a family's write buffer out after many deletions in it. A deletion is a mark that stays until it is merged
 * with the record that it deletes, and every scan steps over it; in a write buffer that does not fill up, it would stay
 * permanently. In a table, {@link DatabaseOptions} has it merged. For one thread at a time.
 */
final class DeletionMarks {
    /** Deletions that cause a write-out: a scan steps over this number in about 5 ms. */
    static final int MANY = 16_384;

    /**
     * Divisor of {@link #MANY}: families with at least that part of the deletions are written out together with the
     * family that has many, because each write-out begins a new log.
     */
    private static final int MANY_PER_SOME = 4;

    private static final Logger log = LoggerFactory.getLogger(DeletionMarks.class);

    private final Map<Family, Integer> marks = new EnumMap<>(Family.class);

    /** Counts the deletions of a batch that was just written. */
    void count(Map<Family, Integer> deletions) {
        deletions.forEach((family, count) -> marks.merge(family, count, Integer::sum));
    }

    /**
     * Starts writing families out, in the background, if one has many deletions. Does not fail: the batch is already
     * written.
     *
     * @param hasRoom whether the disk has space for the write-out; if the write-out failed, no further writes would be
     *     possible, whereas marks cost only time
     */
    void writeOutMany(OpenDatabase database, BooleanSupplier hasRoom) {
        if (marks.values().stream().noneMatch(count -> count >= MANY) || !hasRoom.getAsBoolean()) {
            return;
        }
        List<ColumnFamilyHandle> families = new ArrayList<>();
        marks.forEach((family, count) -> {
            if (count >= MANY / MANY_PER_SOME) {
                families.add(database.handle(family));
            }
        });
        marks.values().removeIf(count -> count >= MANY / MANY_PER_SOME);
        try (FlushOptions inTheBackground = new FlushOptions().setWaitForFlush(false)) {
            database.database().flush(inTheBackground, families);
        } catch (RocksDBException e) {
            // If the problem persists, the next write reports it.
            log.debug("many deletions stay in a write buffer: {}", e.getMessage());
        }
    }
}
