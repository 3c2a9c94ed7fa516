package org.opendedup.sar.sdfs.health;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
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
     * @param metDamage whether a request met damage, and it is not known that none is left
     */
    public record Counts(
            long reads,
            long writes,
            long syncs,
            long noSpace,
            @Nullable Duration lastAge,
            boolean metDamage) {
        public static final Counts NONE = new Counts(0, 0, 0, 0, null, false);

        /** Returns the number of requests that failed with an I/O error. */
        public long all() {
            return reads + writes + syncs;
        }
    }

    private final LongSupplier nanoClock;
    private final Map<Kind, LongAdder> failed = new EnumMap<>(Kind.class);
    private final LongAdder noSpace = new LongAdder();
    /** Time of the last failure that was not because of damage, by {@link #nanoClock}. */
    private volatile @Nullable Long lastNs;
    /** Time of the last failure because of damage, by {@link #nanoClock}. */
    private volatile @Nullable Long lastDamageNs;

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
            // Of a pack that is missing, the file is not found.
            if (failure instanceof CorruptionException || failure instanceof NoSuchFileException) {
                lastDamageNs = nanoClock.getAsLong();
            } else {
                lastNs = nanoClock.getAsLong();
            }
        }
    }

    /** Forgets the time of the last failure: what failed is durable now. The counts stay. */
    public void settle() {
        lastNs = null;
    }

    /** Forgets the time of the last failure because of damage: no damage is left. The counts stay. */
    public void settleDamage() {
        lastDamageNs = null;
    }

    public Counts counts() {
        long now = nanoClock.getAsLong();
        Duration age = Stream.of(Optional.ofNullable(lastNs), Optional.ofNullable(lastDamageNs))
                .flatMap(Optional::stream)
                .map(at -> Duration.ofNanos(now - at))
                .min(Comparator.naturalOrder())
                .orElse(null);
        return new Counts(
                count(Kind.READ), count(Kind.WRITE), count(Kind.SYNC), noSpace.sum(), age, lastDamageNs != null);
    }

    private long count(Kind kind) {
        LongAdder count = failed.get(kind);
        return count == null ? 0 : count.sum();
    }
}
