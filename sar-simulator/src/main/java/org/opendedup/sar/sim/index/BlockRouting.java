package org.opendedup.sar.sim.index;

import com.carrotsearch.hppc.LongArrayList;
import com.carrotsearch.hppc.LongHashSet;

/**
 * SiLo's distribution of blocks over nodes (section 3.4): a block goes to the node {@code F mod N}, where F is its
 * representative, the lowest fingerprint of its segments. A node finds the duplicates of what it has itself, exactly;
 * it knows nothing of the others. Not thread-safe.
 */
final class BlockRouting {
    private final int nodes;
    private final long blockBytes;
    private final long[] stored;
    /** Contents with the node that has them. */
    private final LongHashSet known = new LongHashSet();

    private final LongArrayList keys = new LongArrayList();
    private final LongArrayList lengths = new LongArrayList();
    private long openBytes;

    /** @param blockBytes data of a block, in bytes */
    BlockRouting(int nodes, long blockBytes) {
        this.nodes = nodes;
        this.blockBytes = blockBytes;
        stored = new long[nodes];
    }

    void store(TraceSegment segment) {
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            keys.add(segment.key(chunk));
            lengths.add(segment.length(chunk));
        }
        openBytes += segment.bytes();
        if (openBytes >= blockBytes) {
            finish();
        }
    }

    /** Routes the last block. */
    void finish() {
        if (keys.isEmpty()) {
            return;
        }
        long representative = keys.get(0);
        for (int chunk = 1; chunk < keys.size(); chunk++) {
            if (Long.compareUnsigned(keys.get(chunk), representative) < 0) {
                representative = keys.get(chunk);
            }
        }
        int node = (int) Long.remainderUnsigned(representative, nodes);
        for (int chunk = 0; chunk < keys.size(); chunk++) {
            if (known.add(TraceSegment.mixed(keys.get(chunk) ^ TraceSegment.mixed(node)))) {
                stored[node] += lengths.get(chunk);
            }
        }
        keys.clear();
        lengths.clear();
        openBytes = 0;
    }

    /** Returns the bytes that each node stores. */
    long[] stored() {
        return stored.clone();
    }
}
