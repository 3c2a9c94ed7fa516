package org.opendedup.sar.metadata;

import java.io.IOException;
import org.opendedup.sar.metadata.KeyValueStore.Batch;
import org.opendedup.sar.metadata.KeyValueStore.Family;

/**
 * Hands out numbers that are never handed out again, whatever crashes: a block of them is reserved durably before its
 * first one is used. A crash loses at most the rest of a block.
 */
final class IdAllocator {
    private final KeyValueStore database;
    private final byte[] key;
    private final int block;
    /** Guarded by this, like {@link #reserved}. */
    private long next;
    /** Numbers below are reserved. */
    private long reserved;

    /** @param first the first number that was never reserved */
    IdAllocator(KeyValueStore database, byte[] key, int block, long first) {
        this.database = database;
        this.key = key;
        this.block = block;
        this.next = first;
        this.reserved = first;
    }

    synchronized long next() throws IOException {
        if (next == reserved) {
            reserve(reserved + block);
        }
        return next++;
    }

    /** Goes on at {@code first} if that is higher than what comes next; the first number that can come now. */
    synchronized long skipTo(long first) throws IOException {
        if (first > reserved) {
            reserve(first);
        }
        next = Math.max(next, first);
        return next;
    }

    private void reserve(long end) throws IOException {
        try (Batch batch = database.batch()) {
            batch.put(Family.SYSTEM, key, SystemRecords.encodeNumber(end));
            batch.commit();
        }
        reserved = end;
    }
}
