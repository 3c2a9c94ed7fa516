package org.opendedup.sar.restore.lookahead;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The positions at which one reader reads its file. Assigns each request to a position, and chooses the position that
 * is replaced by another. For one thread at a time.
 */
final class ReadPositions {
    /** Most positions that are remembered, those used last. */
    static final int MOST_KNOWN = 32;
    /** Positions that each reader may remember, however many readers there are. */
    static final int FEW_KNOWN = 4;
    /** Heap size of a position for which nothing is read ahead, in bytes. */
    static final int POSITION_BYTES = 100;
    /** A position counts as left when this many bytes were read at others. */
    private static final long LEFT_BYTES = 1 << 20;
    /** A position is replaced by one at which this many bytes are read without a read elsewhere. */
    private static final long BURST_BYTES = 1 << 20;
    /**
     * A position is also replaced when this many bytes were read at others: if there are more positions than can be
     * read ahead, they must not replace each other in turns.
     */
    private static final long UNUSED_BYTES = 64 << 20;

    private final List<ReadPosition> all = new ArrayList<>();
    /** Number of positions that all readers remember. */
    private final AtomicInteger known;
    /** That number from which on a reader remembers few. */
    private final int most;
    /** Bytes requested, at all positions. */
    private long clock;

    /**
     * @param known number of positions that all readers remember; {@link #forgetAll} takes those of this one off
     * @param most that number from which on a reader remembers few
     */
    ReadPositions(AtomicInteger known, int most) {
        this.known = known;
        this.most = most;
    }

    /** Notes a request, and returns the position that it belongs to, which may be a new one. */
    ReadPosition note(long offset, int length) {
        clock += length;
        all.forEach(ReadPosition::forgetClosed);
        ReadPosition nearest = nearest(offset, length);
        if (nearest != null) {
            nearest.note(offset, length, clock);
            merge(nearest);
            return nearest;
        }
        ReadPosition backward = all.stream()
                .filter(position -> position.isBefore(offset, length))
                .findFirst()
                .orElse(null);
        if (backward != null) {
            backward.noteBackward(offset, length, clock);
            return backward;
        }
        if (all.size() >= (known.get() < most ? MOST_KNOWN : FEW_KNOWN)) {
            forgetOne();
        }
        ReadPosition started = new ReadPosition(offset, length, clock);
        all.add(started);
        known.incrementAndGet();
        return started;
    }

    private @Nullable ReadPosition nearest(long offset, int length) {
        ReadPosition nearest = null;
        long least = Long.MAX_VALUE;
        for (ReadPosition position : all) {
            long distance = position.distance(offset, length);
            if (distance >= 0 && distance < least) {
                nearest = position;
                least = distance;
            }
        }
        return nearest;
    }

    /** Merges positions that began early, by requests out of order, into the position that has reached them. */
    private void merge(ReadPosition into) {
        for (int i = 0; i < all.size(); i++) {
            ReadPosition other = all.get(i);
            if (other != into && into.hasReached(other)) {
                into.join(other);
                forget(other);
                i = -1;
            }
        }
    }

    private void forgetOne() {
        all.stream()
                .filter(position -> position.lookahead() == null)
                .min(Comparator.comparingLong(ReadPosition::usedAt))
                .ifPresent(this::forget);
    }

    private void forget(ReadPosition one) {
        all.remove(one);
        known.decrementAndGet();
    }

    /** Forgets all positions: the reader is closed. */
    void forgetAll() {
        known.addAndGet(-all.size());
        all.clear();
    }

    /**
     * Returns where another position began ahead of this one, or the end of the file: what follows was already read.
     */
    long end(ReadPosition of, long size) {
        long end = size;
        for (ReadPosition other : all) {
            if (other != of && other.isWarm() && other.start() >= of.reached()) {
                end = Math.min(end, other.start());
            }
        }
        return end;
    }

    /** Bytes that were fetched for other positions, which were left. */
    long leftBytes(ReadPosition except) {
        long bytes = 0;
        for (ReadPosition position : all) {
            Lookahead lookahead = position.lookahead();
            if (position != except && lookahead != null && clock - position.usedAt() > LEFT_BYTES) {
                bytes += lookahead.untakenBytes();
            }
        }
        return bytes;
    }

    /** Whether the reader has read in sequence at other positions, too. */
    boolean areSeveral(ReadPosition one) {
        return all.stream().anyMatch(position -> position != one && position.isWarm());
    }

    /** Returns the lookaheads of all positions that are read ahead now. */
    List<Lookahead> lookaheads() {
        List<Lookahead> active = new ArrayList<>();
        for (ReadPosition position : all) {
            Lookahead lookahead = position.lookahead();
            if (lookahead != null) {
                active.add(lookahead);
            }
        }
        return active;
    }

    /** Returns the lookahead that a noted request belongs to; null if there is none. */
    @Nullable
    Lookahead lookahead(long offset, int length) {
        Lookahead nearest = null;
        long least = Long.MAX_VALUE;
        for (ReadPosition position : all) {
            Lookahead lookahead = position.lookahead();
            long behind = position.reached() - offset - length;
            if (lookahead != null && behind >= 0 && behind < least && behind <= lookahead.slackBytes()) {
                nearest = lookahead;
                least = behind;
            }
        }
        return nearest;
    }

    /**
     * Returns the position to be replaced by another: the one used longest ago among those that are read ahead. Null if
     * none is to be replaced.
     */
    @Nullable
    ReadPosition givesWay(ReadPosition to) {
        ReadPosition oldest = null;
        for (ReadPosition position : all) {
            if (position.lookahead() != null && (oldest == null || position.usedAt() < oldest.usedAt())) {
                oldest = position;
            }
        }
        boolean gives = oldest != null && (to.burstBytes() >= BURST_BYTES || clock - oldest.usedAt() >= UNUSED_BYTES);
        return gives ? oldest : null;
    }
}
