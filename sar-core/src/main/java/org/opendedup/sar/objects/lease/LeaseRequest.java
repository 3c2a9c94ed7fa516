package org.opendedup.sar.objects.lease;

import java.io.IOException;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.objects.VersionChangedException;

/**
 * A wish for a lease. Looks at it again and again: takes one that nobody has at once, and one that nobody has renewed
 * for its term. No clock of another machine matters for that. For one thread.
 */
final class LeaseRequest {
    private final LeaseObject object;
    private final LeaseTerms terms;
    private final LeaseClock clock;
    private final @Nullable UUID dead;
    private final UUID owner;

    /** The lease as it was seen last, and since when it has been as it is. */
    private LeaseObject.@Nullable Read seen;

    private LeaseClock.Moment since;

    /**
     * @param owner made at random
     * @param dead an owner of which it is known that its process has ended; null: of none
     */
    LeaseRequest(LeaseObject object, LeaseTerms terms, LeaseClock clock, UUID owner, @Nullable UUID dead) {
        this.object = object;
        this.terms = terms;
        this.clock = clock;
        this.dead = dead;
        this.owner = owner;
        since = clock.now();
    }

    /** Returns the lease as it was seen last; null if nobody ever had it. */
    @Nullable
    LeaseRecord seen() {
        return seen == null ? null : seen.lease();
    }

    /**
     * Looks at the lease, and takes it if that is possible now.
     *
     * @return null if it must be looked at again
     * @throws LeaseHeldException if its owner renews it
     */
    @Nullable
    Lease look() throws IOException {
        LeaseObject.Read now = read();
        LeaseObject.Read before = seen;
        boolean isSame = before != null && now != null && before.version().equals(now.version());
        if (!isSame) {
            // It was put before the answer came.
            since = clock.now();
            seen = now;
        }
        if (now != null
                && now.lease().state() == LeaseRecord.State.HELD
                && !isOurs(now.lease().owner())) {
            if (!isSame && before != null && before.lease().isHeldBy(now.lease().owner())) {
                throw new LeaseHeldException(object.toString(), now.lease());
            } else if (clock.leastSince(since) < terms.term().toNanos()) {
                return null;
            }
        }
        return take(now);
    }

    private LeaseObject.@Nullable Read read() throws IOException {
        try {
            return object.read();
        } catch (CorruptionException e) {
            throw new IOException(e.getMessage() + "; " + LeaseObject.REMEDY, e);
        }
    }

    /** Returns whether the owner is this one, because the answer to an earlier try was lost, or known to be dead. */
    private boolean isOurs(UUID holder) {
        return holder.equals(owner) || holder.equals(dead);
    }

    private @Nullable Lease take(LeaseObject.@Nullable Read now) throws IOException {
        LeaseClock.Moment began = clock.now();
        LeaseRecord mine = LeaseRecord.ofThisProcess(owner, Instant.ofEpochMilli(began.millis()));
        if (now != null) {
            mine = now.lease().isHeldBy(owner) ? now.lease().renewedAt(mine.since()) : mine.after(now.lease());
        }
        try {
            String version = object.replace(now == null ? null : now.version(), mine);
            return new Lease(object, terms, clock, mine, version, began);
        } catch (VersionChangedException e) {
            return null;
        }
    }
}
