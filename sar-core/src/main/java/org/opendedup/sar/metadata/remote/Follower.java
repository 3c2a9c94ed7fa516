package org.opendedup.sar.metadata.remote;

import java.io.IOException;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.db.KeyValueStore;

/** Brings a local database to the end of the chain. For one thread. */
final class Follower {
    /** What the database has to do with the chain. */
    enum Outcome {
        /** It has everything up to the end, and maybe changes of this owner that are not in the store. */
        AT_END,
        /** It lacks changes that the log has no more. It has none that the store lacks. */
        LEFT_BEHIND,
        /** It has changes that never got into the store, and another owner has gone on without them. */
        DIVERGED,
        /** It has everything, and the log cannot be read up to its end. */
        BEHIND_GAP
    }

    private final Chain chain;
    private final KeyValueStore database;
    private final Set<Owner> owners;
    private final int lanes;
    private final TreeMap<Long, ChainPoint> points = new TreeMap<>();
    private ChainPoint point;
    private long bytes;

    /**
     * @param owners see {@link LocalState}
     * @param from a point of the chain from which to go on
     * @param lanes segments that are read at the same time
     */
    Follower(Chain chain, KeyValueStore database, Set<Owner> owners, ChainPoint from, int lanes) {
        this.chain = chain;
        this.database = database;
        this.owners = owners;
        this.lanes = lanes;
        point = from;
        points.put(from.sequence(), from);
    }

    ChainPoint point() {
        return point;
    }

    /** Returns the points that were passed, by their last change. */
    TreeMap<Long, ChainPoint> points() {
        return points;
    }

    /** Returns the bytes of the segments that were passed. */
    long bytes() {
        return bytes;
    }

    /** @throws MissingSegmentException if the log begins after the point, or a segment is damaged */
    Outcome follow() throws IOException {
        if (database.changes() < point.sequence()) {
            return Outcome.LEFT_BEHIND;
        }
        try (SegmentsAhead segments = new SegmentsAhead(chain, lanes)) {
            return follow(segments);
        }
    }

    private Outcome follow(SegmentsAhead segments) throws IOException {
        for (Chain.Link link = next(segments); link != null; link = next(segments)) {
            LogSegment segment = link.segment();
            if (segment.content() instanceof LogSegment.Changes changes && segment.last() > database.changes()) {
                apply(changes, segment);
            } else if (segment.content() instanceof LogSegment.Leap && segment.last() > database.changes()) {
                return Outcome.LEFT_BEHIND;
            } else if (segment.content() instanceof LogSegment.End end
                    && !owners.contains(end.next())
                    && database.changes() > segment.last()) {
                return Outcome.DIVERGED;
            }
            point = link.point();
            points.put(point.sequence(), point);
            bytes += link.bytes();
        }
        return Outcome.AT_END;
    }

    private Chain.@Nullable Link next(SegmentsAhead segments) throws IOException {
        try {
            return segments.next(point);
        } catch (CorruptionException e) {
            throw new MissingSegmentException(e);
        }
    }

    private void apply(LogSegment.Changes changes, LogSegment segment) throws IOException {
        String place = "log segment " + segment.number() + ", change";
        long last = LoggedBatch.apply(changes.batches(), segment.first(), database, place);
        if (last != segment.last()) {
            throw new CorruptionException(
                    chain + ", " + place, -1, "changes up to " + segment.last(), "those up to " + last);
        }
    }
}
