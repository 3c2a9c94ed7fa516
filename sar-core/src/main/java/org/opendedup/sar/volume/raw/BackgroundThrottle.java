package org.opendedup.sar.volume.raw;

import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Slows work that nobody waits for while programs use the volume, because it needs the same processors: the storing of
 * raw files in chunks, and exact passes. Then it rests after each piece for a multiple of the time that the piece took,
 * and one thread at a time stores raw files. While nobody uses the volume, and while the fast tier is nearly full,
 * nothing waits. Uses that the kernel serves alone, in the backing files, are not seen. Safe for use by many threads.
 */
public final class BackgroundThrottle {
    /** Time after a use for which the volume counts as used, in nanoseconds. */
    static final long ACTIVE_NS = TimeUnit.MILLISECONDS.toNanos(250);

    /** Rest after a piece, as a multiple of the time that it took: a quarter of one processor is used. */
    static final int REST = 3;

    /** Longest rest, in nanoseconds: a piece that waited for a disk or a lock is not one that took the processor. */
    static final long MAX_REST_NS = TimeUnit.MILLISECONDS.toNanos(250);

    private final LongSupplier use;
    private final Clock clock;
    private volatile boolean hurried;

    /** Guarded by this. */
    private long lastUse;
    /** When the volume was last found used, in nanoseconds. Guarded by this. */
    private long usedNanos;

    /** The time, and waiting. */
    interface Clock {
        long nanos();

        void sleep(long nanos) throws InterruptedException;
    }

    private static final Clock SYSTEM = new Clock() {
        @Override
        public long nanos() {
            return System.nanoTime();
        }

        @Override
        public void sleep(long nanos) throws InterruptedException {
            TimeUnit.NANOSECONDS.sleep(nanos);
        }
    };

    /** @param use a number that changes with every use of the volume by a program */
    public BackgroundThrottle(LongSupplier use) {
        this(use, SYSTEM);
    }

    BackgroundThrottle(LongSupplier use, Clock clock) {
        this.use = use;
        this.clock = clock;
        lastUse = use.getAsLong();
        usedNanos = clock.nanos() - ACTIVE_NS;
    }

    /** Sets whether the work is needed so much that nothing waits. */
    void setHurried(boolean isHurried) {
        hurried = isHurried;
    }

    /** Returns whether programs use the volume, or did so a moment ago, and the work is to be slower. */
    boolean isYielding() {
        return !hurried && quietNanos() < ACTIVE_NS;
    }

    /** Returns for how long no use was seen, in nanoseconds. Uses are seen by looking: here and in {@link Piece}. */
    public synchronized long quietNanos() {
        long now = clock.nanos();
        long seen = use.getAsLong();
        if (seen != lastUse) {
            lastUse = seen;
            usedNanos = now;
        }
        return now - usedNanos;
    }

    /** Begins the first piece of some work of the calling thread. */
    public Piece begin() {
        return new Piece();
    }

    /** The piece of work at hand, of one thread. */
    public final class Piece {
        private long begunNanos = clock.nanos();

        /** Ends a piece: rests if programs use the volume. The next piece begins. */
        public void next() throws InterruptedIOException {
            if (isYielding()) {
                try {
                    clock.sleep(Math.min(MAX_REST_NS, REST * (clock.nanos() - begunNanos)));
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new InterruptedIOException("interrupted while background work gave way");
                }
            }
            begunNanos = clock.nanos();
        }
    }
}
