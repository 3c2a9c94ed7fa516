package org.opendedup.sar.metadata.pending;

import java.io.IOException;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.SystemRecords;

/**
 * Allocates numbers that are never allocated twice, even after crashes: a block of them is reserved durably before the
 * use of its first one. A crash loses at most the rest of a block.
 */
public final class IdAllocator {
    private final KeyValueStore database;
    private final byte[] key;
    private final int block;
    private final boolean isShipped;
    /** The next number. Guarded by this, like {@link #reserved}. */
    private long next;
    /** Numbers below this one are reserved. */
    private long reserved;

    /**
     * @param block numbers reserved at a time
     * @param isShipped whether a block is reserved in the store that the database follows into, too: so another machine
     *     never allocates a number that this one may have used, whatever it lacks of the changes here
     * @param first the first number that was never reserved
     */
    public IdAllocator(KeyValueStore database, byte[] key, int block, boolean isShipped, long first) {
        this.isShipped = isShipped;
        this.database = database;
        this.key = key;
        this.block = block;
        this.next = first;
        this.reserved = first;
    }

    public synchronized long next() throws IOException {
        if (next == reserved) {
            long end = reserved + block;
            put(end);
            if (isShipped) {
                database.ship();
            }
            reserved = end;
        }
        return next++;
    }

    /** Continues at {@code first} if that is higher than the next number. Returns the next number. */
    public synchronized long skipTo(long first) throws IOException {
        if (first > reserved) {
            put(first);
            reserved = first;
        }
        next = Math.max(next, first);
        return next;
    }

    private void put(long end) throws IOException {
        try (Batch batch = database.batch()) {
            batch.put(Family.SYSTEM, key, SystemRecords.encodeNumber(end));
            batch.commit();
        }
    }
}
