package org.opendedup.sar.volume;

import com.carrotsearch.hppc.LongHashSet;
import java.util.function.LongSupplier;

/**
 * The copies whose last reference went within the grace period: a collection keeps them. A client that counts its
 * references itself takes one away before it adds the next, and loses some in a crash. What had no reference when the
 * volume was opened is kept for one grace period, too.
 *
 * <p>Two sets, the younger of which becomes the older one after each grace period: a copy is kept for one to two grace
 * periods. If a set is full, all copies are kept until it is dropped. Safe for use by many threads.
 */
final class RecentlyUnreferenced {
    /** Heap for one copy in a set, in bytes: 8, in a table that is filled by 3/8 to 3/4. */
    static final int COPY_BYTES = 22;

    private final long graceNanos;
    private final LongSupplier clock;
    private final int maxCopies;
    private final long openedNanos;

    private long begunNanos;
    private LongHashSet younger = new LongHashSet();
    private LongHashSet older = new LongHashSet();
    private boolean isYoungerFull;
    private boolean isOlderFull;

    /**
     * @param graceNanos time for which a copy without references is kept, in nanoseconds; 0: not at all
     * @param clock the time in nanoseconds, from any beginning
     * @param maxCopies maximum number of copies in each of the two sets
     */
    RecentlyUnreferenced(long graceNanos, LongSupplier clock, int maxCopies) {
        this.graceNanos = graceNanos;
        this.clock = clock;
        this.maxCopies = maxCopies;
        openedNanos = clock.getAsLong();
        begunNanos = openedNanos;
    }

    /** Notes that the last reference to a copy went, or that it was stored without one. */
    synchronized void note(long chunkId) {
        if (graceNanos > 0) {
            turn();
            if (younger.size() < maxCopies) {
                younger.add(chunkId);
            } else {
                isYoungerFull = true;
            }
        }
    }

    /** Returns whether a copy without references is to be kept now. */
    synchronized boolean keeps(long chunkId) {
        if (graceNanos == 0) {
            return false;
        }
        turn();
        return clock.getAsLong() - openedNanos < graceNanos
                || isYoungerFull
                || isOlderFull
                || younger.contains(chunkId)
                || older.contains(chunkId);
    }

    private void turn() {
        long now = clock.getAsLong();
        if (now - begunNanos >= graceNanos) {
            boolean areBothOld = now - begunNanos >= 2 * graceNanos;
            older = areBothOld ? new LongHashSet() : younger;
            isOlderFull = !areBothOld && isYoungerFull;
            younger = new LongHashSet();
            isYoungerFull = false;
            begunNanos = now;
        }
    }
}
