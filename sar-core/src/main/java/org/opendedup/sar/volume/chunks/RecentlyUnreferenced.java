package org.opendedup.sar.volume.chunks;

import com.carrotsearch.hppc.LongHashSet;
import java.util.function.LongSupplier;

/**
 * The copies whose last reference went within the grace period: a collection keeps them. A client that counts its
 * references itself takes one away before it adds the next, and loses some in a crash. What had no reference when the
 * volume was opened is kept for one grace period, too.
 *
 * <p>If the client's maps decide, everything is kept outside of collections, and what lost its last reference after the
 * {@link ClientRecount} of a collection had begun is kept until that collection ends: its maps were not asked since.
 *
 * <p>Two sets, the younger of which becomes the older one after each grace period: a copy is kept for one to two grace
 * periods. If a set is full, all copies are kept until it is dropped. Safe for use by many threads.
 */
public final class RecentlyUnreferenced {
    /** Heap for one copy in a set, in bytes: 8, in a table that is filled by 3/8 to 3/4. */
    static final int COPY_BYTES = 22;

    private final long graceNanos;
    private final LongSupplier clock;
    private final int maxCopies;
    private final boolean mapsDecide;
    private final long openedNanos;

    private long begunNanos;
    private LongHashSet younger = new LongHashSet();
    private LongHashSet older = new LongHashSet();
    private boolean isYoungerFull;
    private boolean isOlderFull;

    /** Whether a recount was complete, and when it began. */
    private boolean isRecounted;

    private long recountNanos;
    private boolean isCollecting;

    /**
     * @param graceNanos time for which a copy without references is kept, in nanoseconds
     * @param clock the time in nanoseconds, from any beginning
     * @param maxCopies maximum number of copies in each of the two sets
     * @param mapsDecide whether nothing is garbage but what a recount has found to be
     */
    public RecentlyUnreferenced(long graceNanos, LongSupplier clock, int maxCopies, boolean mapsDecide) {
        this.graceNanos = graceNanos;
        this.clock = clock;
        this.maxCopies = maxCopies;
        this.mapsDecide = mapsDecide;
        openedNanos = clock.getAsLong();
        begunNanos = openedNanos;
    }

    /**
     * Begins a collection.
     *
     * @return whether the references must be recounted first. A recount that began within the grace period serves: what
     *     lost its last reference since is kept anyway.
     */
    synchronized boolean beginCollection() {
        turn();
        isCollecting = true;
        long now = clock.getAsLong();
        if (isRecounted && now - recountNanos < graceNanos) {
            return false;
        }
        isRecounted = false;
        recountNanos = now;
        return mapsDecide;
    }

    /** The recount that the collection needs is complete. */
    synchronized void recounted() {
        isRecounted = true;
    }

    synchronized void endCollection() {
        isCollecting = false;
    }

    /** Notes that the last reference to a copy went, or that it was stored without one. */
    synchronized void note(long chunkId) {
        turn();
        if (younger.size() < maxCopies) {
            younger.add(chunkId);
        } else {
            isYoungerFull = true;
        }
    }

    /** Returns whether a copy without references is to be kept now. */
    synchronized boolean keeps(long chunkId) {
        turn();
        return mapsDecide && !(isCollecting && isRecounted)
                || clock.getAsLong() - openedNanos < graceNanos
                || isYoungerFull
                || isOlderFull
                || younger.contains(chunkId)
                || older.contains(chunkId);
    }

    private void turn() {
        long now = clock.getAsLong();
        boolean guards = mapsDecide && isCollecting;
        // The older set, which a turn drops, ends where the younger one begins.
        if (now - begunNanos >= graceNanos && !(guards && begunNanos - recountNanos >= 0)) {
            boolean areBothOld = now - begunNanos >= 2 * graceNanos && !guards;
            older = areBothOld ? new LongHashSet() : younger;
            isOlderFull = !areBothOld && isYoungerFull;
            younger = new LongHashSet();
            isYoungerFull = false;
            begunNanos = now;
        }
    }
}
