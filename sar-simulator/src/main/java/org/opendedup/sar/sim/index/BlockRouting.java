package org.opendedup.sar.sim.index;

import com.carrotsearch.hppc.LongArrayList;
import com.carrotsearch.hppc.LongHashSet;
import java.util.function.LongToIntFunction;

/**
 * SiLo's distribution of blocks over nodes (section 3.4): the representative of a block, the lowest fingerprint of its
 * chunks, says to which node it goes. A node finds the duplicates of what it has itself, exactly; it knows nothing of
 * the others. Whoever uses it says where a block ends. Not thread-safe.
 */
final class BlockRouting {
    private final LongToIntFunction nodeOf;
    private final long[] stored;
    /** Contents with the node that has them. */
    private final LongHashSet known = new LongHashSet();

    private final LongArrayList keys = new LongArrayList();
    private final LongArrayList lengths = new LongArrayList();
    private long openBytes;

    /** @param nodeOf returns the node of a representative, from 0 on */
    BlockRouting(int nodes, LongToIntFunction nodeOf) {
        this.nodeOf = nodeOf;
        stored = new long[nodes];
    }

    /** SiLo's own: node {@code F mod N} has the blocks with the representative F. */
    static BlockRouting modulo(int nodes) {
        return new BlockRouting(nodes, representative -> (int) Long.remainderUnsigned(representative, nodes));
    }

    /** Adds a chunk to the open block. */
    void add(long key, int length) {
        keys.add(key);
        lengths.add(length);
        openBytes += length;
    }

    /** Returns the length of the open block, in bytes. */
    long openBytes() {
        return openBytes;
    }

    /** Routes the open block, if it has a chunk. */
    void finish() {
        if (keys.isEmpty()) {
            return;
        }
        int node = nodeOf.applyAsInt(representative());
        for (int chunk = 0; chunk < keys.size(); chunk++) {
            if (known.add(TraceSegment.mixed(keys.get(chunk) ^ TraceSegment.mixed(node)))) {
                stored[node] += lengths.get(chunk);
            }
        }
        keys.clear();
        lengths.clear();
        openBytes = 0;
    }

    private long representative() {
        long lowest = keys.get(0);
        for (int chunk = 1; chunk < keys.size(); chunk++) {
            if (Long.compareUnsigned(keys.get(chunk), lowest) < 0) {
                lowest = keys.get(chunk);
            }
        }
        return lowest;
    }

    /** Returns the bytes that each node stores. */
    long[] stored() {
        return stored.clone();
    }
}
