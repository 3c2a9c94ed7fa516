package org.opendedup.sar.objects.lease;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.objects.VersionChangedException;

/**
 * A lease that this process has, or had. It is valid for a time after each renewal, counted from the moment before the
 * request: so it is not valid any more when another process may take it, whatever happened to requests and answers, and
 * for however long this process was stopped. Has no thread; {@link LeaseKeeper} is one. Safe for use by many threads.
 */
final class Lease {
    private static final Duration AT_ONCE = Duration.ZERO;

    private final LeaseObject object;
    private final LeaseTerms terms;
    private final LeaseClock clock;
    private final long servesNs;

    /** The last version that is known. Guarded by this. */
    private String version;

    private volatile LeaseRecord record;
    /** Before the request that renewed it last. */
    private volatile LeaseClock.Moment renewed;
    /** Why it is lost, for ever; null: it is not. */
    private volatile @Nullable String lost;
    /** Why the last renewal failed; null: it did not. */
    private volatile @Nullable IOException failure;

    private volatile boolean isReleased;
    /** What is noted for the next owner; null: what the one before has noted. */
    private volatile @Nullable Supplier<String> note;

    Lease(
            LeaseObject object,
            LeaseTerms terms,
            LeaseClock clock,
            LeaseRecord record,
            String version,
            LeaseClock.Moment began) {
        this.object = object;
        this.terms = terms;
        this.clock = clock;
        this.record = record;
        this.version = version;
        renewed = began;
        servesNs = terms.serves().toNanos();
    }

    /** Returns whether nobody else can have the lease now. */
    boolean isValid() {
        return lost == null && !isReleased && clock.mostSince(renewed) < servesNs;
    }

    /** Returns the time since the last renewal, in nanoseconds. */
    long ageNs() {
        return clock.mostSince(renewed);
    }

    /** Returns whether a renewal has succeeded that was begun at this time of {@link LeaseClock#nanos}, or later. */
    boolean isRenewedSince(long nanos) {
        return lost == null && renewed.nanos() - nanos >= 0;
    }

    /** Notes that it is of no use any more, because what it protects has another owner. */
    void lose(String why) {
        if (lost == null) {
            lost = why;
        }
    }

    /** Returns why it is lost for ever; null if it is not. */
    @Nullable
    String lost() {
        return lost;
    }

    /** Returns why the last renewal failed; null if it did not. */
    @Nullable
    IOException failure() {
        return failure;
    }

    LeaseRecord record() {
        return record;
    }

    /** Sets what each renewal, and the release, note for the next owner. */
    void note(Supplier<String> toNote) {
        note = toNote;
    }

    private LeaseRecord noted(LeaseRecord of) {
        Supplier<String> ours = note;
        return ours == null ? of : of.noting(ours.get());
    }

    /**
     * Tries once to renew it. Several threads may do so at the same time, because an answer may not come for long.
     *
     * @return time until it should be tried again
     */
    Duration renew() {
        if (lost != null || isReleased) {
            return terms.period();
        }
        String expected;
        synchronized (this) {
            expected = version;
        }
        LeaseClock.Moment began = clock.now();
        LeaseRecord next = noted(record.renewedAt(Instant.ofEpochMilli(began.millis())));
        try {
            put(expected, next, began);
            return terms.period();
        } catch (VersionChangedException e) {
            return lookAgain();
        } catch (IOException | RuntimeException e) {
            // Whether it was renewed is not known: the next try tells.
            return failed(e);
        }
    }

    private void put(String expected, LeaseRecord next, LeaseClock.Moment began) throws IOException {
        String put = object.replace(expected, next);
        synchronized (this) {
            if (version.equals(expected)) {
                version = put;
                record = next;
            }
            if (began.nanos() - renewed.nanos() > 0) {
                renewed = began;
            }
        }
        failure = null;
    }

    private Duration failed(Exception why) {
        failure = why instanceof IOException e ? e : new IOException("the store's client failed: " + why, why);
        return terms.retry();
    }

    /** Finds out whether it was this owner who put another version. */
    private Duration lookAgain() {
        LeaseObject.Read now;
        try {
            now = object.read();
        } catch (IOException | RuntimeException e) {
            return failed(e);
        }
        if (now != null && now.lease().isHeldBy(record.owner())) {
            synchronized (this) {
                version = now.version();
            }
            // When that one was put is not known, so it must be renewed to be valid.
            return AT_ONCE;
        }
        if (!isReleased) {
            lost = reason(now == null ? null : now.lease());
        }
        return terms.period();
    }

    private String reason(@Nullable LeaseRecord now) {
        if (now == null) {
            return "the lease in " + object + " was deleted";
        } else if (now.owner().equals(record.owner())) {
            return "an administrator has broken the lease in " + object;
        }
        return now.ownerText() + " has taken over the volume in " + object + ", at " + now.since() + " (epoch "
                + now.epoch() + ", ours was " + record.epoch() + ")";
    }

    /** Gives it back, so that another process gets it without waiting. It is not valid from now on. */
    void release() throws IOException {
        isReleased = true;
        if (lost != null) {
            return;
        }
        for (int tries = 1; ; tries++) {
            LeaseObject.Read now = object.read();
            if (now == null || !now.lease().isHeldBy(record.owner())) {
                return;
            }
            try {
                var unused = object.replace(now.version(), noted(record.in(LeaseRecord.State.RELEASED)));
                return;
            } catch (VersionChangedException e) {
                // A renewal that was on its way, or another owner.
                if (tries == 3) {
                    throw e;
                }
            }
        }
    }
}
