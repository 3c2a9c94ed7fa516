package org.opendedup.sar.sdfs.health;

import java.io.IOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;

/**
 * Counts the requests of programs that a mount could not serve: those that failed with an I/O error, and those that
 * found no space. Refusals by the rules of POSIX do not count. Safe for use by many threads.
 */
public final class RequestFailures {
    /** What a request wanted. */
    public enum Kind {
        READ,
        WRITE,
        /** To make something durable, or to learn about earlier writes: fsync, close. */
        SYNC
    }

    /**
     * The counts since mounting.
     *
     * @param noSpace writes and syncs that found no space; not among the others
     * @param lastAge time since the last I/O error that no success has settled; null if there is none
     */
    public record Counts(
            long reads,
            long writes,
            long syncs,
            long noSpace,
            @Nullable Duration lastAge) {
        public static final Counts NONE = new Counts(0, 0, 0, 0, null);

        /** Returns the number of requests that failed with an I/O error. */
        public long all() {
            return reads + writes + syncs;
        }
    }

    private final LongSupplier nanoClock;
    private final Map<Kind, LongAdder> failed = new EnumMap<>(Kind.class);
    private final LongAdder noSpace = new LongAdder();
    /** Time of the last failure, by {@link #nanoClock}. */
    private volatile @Nullable Long lastNs;

    /**
     * @param nanoClock clock in nanoseconds that nobody can set, as {@link System#nanoTime}: a failure stays recent for
     *     as long, whatever is done to the time of day
     */
    public RequestFailures(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
        for (Kind kind : Kind.values()) {
            failed.put(kind, new LongAdder());
        }
    }

    /** Notes how a request failed. */
    public void note(Kind kind, Exception failure) {
        if (failure instanceof PosixException refused && refused.reason() != PosixException.Reason.EIO) {
            return;
        }
        if (failure instanceof NoSpaceException) {
            noSpace.increment();
            return;
        }
        if (failure instanceof IOException || failure instanceof RuntimeException) {
            LongAdder count = failed.get(kind);
            if (count != null) {
                count.increment();
            }
            lastNs = nanoClock.getAsLong();
        }
    }

    /** Forgets the time of the last failure: what failed is durable now. The counts stay. */
    public void settle() {
        lastNs = null;
    }

    public Counts counts() {
        Long last = lastNs;
        Duration age = last == null ? null : Duration.ofNanos(nanoClock.getAsLong() - last);
        return new Counts(count(Kind.READ), count(Kind.WRITE), count(Kind.SYNC), noSpace.sum(), age);
    }

    private long count(Kind kind) {
        LongAdder count = failed.get(kind);
        return count == null ? 0 : count.sum();
    }
}
