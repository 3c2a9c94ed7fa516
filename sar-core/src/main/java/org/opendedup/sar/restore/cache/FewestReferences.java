package org.opendedup.sar.restore.cache;

import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;

/**
 * The lookahead paper's base rule (§3.5): evicts the container with the fewest references in the window; of several,
 * the least recently used. As in the paper, a container in memory has a counter of its own. It starts with the count of
 * the hot data identification and follows the window, so that it can exceed the highest value of a small counter in the
 * filter.
 */
final class FewestReferences implements VictimRule {
    private final CachedContainers cached;
    private final ContainerReferences references;
    private final long windowBytes;
    /** Number of references in the window, by place. */
    private int[] counts = new int[0];

    FewestReferences(CachedContainers cached, ContainerReferences references, long windowBytes) {
        this.cached = cached;
        this.references = references;
        this.windowBytes = windowBytes;
    }

    @Override
    public long windowBytes() {
        return windowBytes;
    }

    @Override
    public void entered(long chunkId) {
        count(ChunkId.container(chunkId), 1);
        references.add(ChunkId.container(chunkId));
    }

    @Override
    public void left(long chunkId) {
        count(ChunkId.container(chunkId), -1);
        references.remove(ChunkId.container(chunkId));
    }

    private void count(long container, int by) {
        int place = cached.find(container);
        if (place != CachedContainers.NONE) {
            // A count that began too low, because the filter's counters were at their highest value, stops at 0.
            counts[place] = Math.max(0, counts[place] + by);
        }
    }

    @Override
    public void added(int place) {
        if (place >= counts.length) {
            counts = Arrays.copyOf(counts, cached.placeCapacity());
        }
        counts[place] = references.count(cached.container(place));
    }

    @Override
    public int victim() {
        int victim = cached.oldest();
        for (int place = cached.newer(victim); place != CachedContainers.NONE; place = cached.newer(place)) {
            if (counts[place] < counts[victim]) {
                victim = place;
            }
        }
        return victim;
    }

    @Override
    public long tableBytes() {
        return references.heapBytes() + (long) counts.length * Integer.BYTES;
    }
}
