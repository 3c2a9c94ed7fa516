package org.opendedup.sar.sim.index;

import com.carrotsearch.hppc.LongHashSet;
import com.carrotsearch.hppc.LongObjectHashMap;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * What similarity alone finds of a trace, and what locality adds (SiLo, sections 2.3 and 4.2). Each segment is compared
 * with the one that its representative leads to, and goes through the volume's own index at the same time. A segment's
 * <em>similarity degree</em> is the share of its chunks that the other one has; 0 if its representative is not known.
 */
final class SimilarityStudy {
    /** Groups of segments: degree 0, more than 0 up to 0.1, and so on; the last one is 1. */
    static final int GROUPS = 12;

    private final LongObjectHashMap<LongHashSet> similar = new LongObjectHashMap<>();
    private final LongHashSet stored = new LongHashSet();
    private final IndexModel silo;
    private final long[] segments = new long[GROUPS];
    private final long[] duplicates = new long[GROUPS];
    private final long[] bySimilarity = new long[GROUPS];
    private final long[] bySilo = new long[GROUPS];

    /** @param silo receives the same segments */
    SimilarityStudy(IndexModel silo) {
        this.silo = silo;
    }

    void store(TraceSegment segment) throws IOException {
        long representative = representative(segment);
        @Nullable LongHashSet other = similar.get(representative);
        LongHashSet own = new LongHashSet(segment.count());
        long duplicate = 0;
        long similarBytes = 0;
        int shared = 0;
        boolean hasNew = false;
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            long key = segment.key(chunk);
            int length = segment.length(chunk);
            boolean isRepeat = !own.add(key);
            boolean isShared = other != null && other.contains(key);
            boolean isNew = stored.add(key);
            hasNew |= isNew;
            duplicate += isNew ? 0 : length;
            similarBytes += isRepeat || isShared ? length : 0;
            shared += isShared ? 1 : 0;
        }
        int group = group(shared, segment.count());
        segments[group]++;
        duplicates[group] += duplicate;
        bySimilarity[group] += similarBytes;
        long before = silo.foundBytes();
        silo.store(segment);
        bySilo[group] += silo.foundBytes() - before;
        if (hasNew) {
            // As in the index: a segment without a new chunk is not stored.
            similar.put(representative, own);
        }
    }

    private static long representative(TraceSegment segment) {
        long lowest = segment.key(0);
        for (int chunk = 1; chunk < segment.count(); chunk++) {
            lowest = Long.compareUnsigned(segment.key(chunk), lowest) < 0 ? segment.key(chunk) : lowest;
        }
        return lowest;
    }

    private static int group(int shared, int all) {
        return shared == all ? GROUPS - 1 : (int) Math.ceil(10.0 * shared / all);
    }

    /** Returns the name of a group. */
    static String name(int group) {
        return group == 0 ? "0" : group == GROUPS - 1 ? "1" : "to 0." + (group == 10 ? "99" : group);
    }

    /** Returns the share of all segments that a group has. */
    double segmentShare(int group) {
        return share(segments[group], segments);
    }

    /** Returns the duplicates of a group that similarity alone finds, as a share of the bytes of all duplicates. */
    double similarityShare(int group) {
        return share(bySimilarity[group], duplicates);
    }

    /** Returns what the index finds beyond that, as a share of the bytes of all duplicates. */
    double localityShare(int group) {
        return share(Math.max(0, bySilo[group] - bySimilarity[group]), duplicates);
    }

    /** Returns the duplicates of a group that neither finds, as a share of the bytes of all duplicates. */
    double missedShare(int group) {
        return share(Math.max(0, duplicates[group] - Math.max(bySilo[group], bySimilarity[group])), duplicates);
    }

    private static double share(long part, long[] all) {
        long sum = 0;
        for (long each : all) {
            sum += each;
        }
        return sum == 0 ? 0 : (double) part / sum;
    }
}
