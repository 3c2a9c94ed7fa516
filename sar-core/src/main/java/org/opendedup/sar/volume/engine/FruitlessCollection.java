package org.opendedup.sar.volume.engine;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The last collection that a full device began and that gave nothing back. Another one would find no more, unless there
 * is more garbage by then. On a large volume it takes long, because it looks at all containers, and the threads that
 * serve programs wait for it: so it is not repeated before they have served others for some times as long. For one
 * thread at a time.
 */
final class FruitlessCollection {
    /** Least time until it is repeated, in nanoseconds. */
    static final long LEAST_REST_NS = TimeUnit.SECONDS.toNanos(2);

    /** Time until it is repeated, as a multiple of the time that it took. */
    static final int REST = 10;

    private final LongSupplier nanoTime;
    private boolean hasBeen;
    private long endedNanos;
    private long tookNanos;
    /** Least bytes of garbage that there were since it ended. */
    private long garbageBytes;
    /** How many collections had given something back when it ended. */
    private long fruitful;

    /** @param nanoTime as {@link System#nanoTime} */
    FruitlessCollection(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /**
     * Notes that a collection has ended and has given nothing back.
     *
     * @param begunNanos when it began
     * @param leftBytes bytes of garbage that there are now
     * @param fruitfulUntilNow how many collections have given something back
     */
    void ended(long begunNanos, long leftBytes, long fruitfulUntilNow) {
        hasBeen = true;
        endedNanos = nanoTime.getAsLong();
        tookNanos = endedNanos - begunNanos;
        garbageBytes = leftBytes;
        fruitful = fruitfulUntilNow;
    }

    /**
     * Returns whether another one now would be in vain.
     *
     * @param presentGarbageBytes bytes of garbage that there are now
     * @param fruitfulUntilNow how many collections have given something back
     */
    boolean wouldBeAgain(long presentGarbageBytes, long fruitfulUntilNow) {
        boolean isMore = presentGarbageBytes > garbageBytes || fruitfulUntilNow != fruitful;
        garbageBytes = Math.min(garbageBytes, presentGarbageBytes);
        long rest = Math.max(LEAST_REST_NS, REST * tookNanos);
        return hasBeen && !isMore && nanoTime.getAsLong() - endedNanos < rest;
    }
}
