package org.opendedup.sar.restore.cache;

import org.opendedup.sar.common.ChunkId;

/**
 * OPT (Belady, IBM Systems Journal 1966): evicts the container whose next reference is farthest, or that has none; of
 * several, the least recently used. With the whole recipe in the window, no policy reads fewer containers, among
 * policies that put every container they read whole into memory, with containers of one size.
 */
final class FarthestReference implements VictimRule {
    private final CachedContainers cached;
    private final LookaheadWindow window = new LookaheadWindow();

    FarthestReference(CachedContainers cached) {
        this.cached = cached;
    }

    @Override
    public long windowBytes() {
        return Long.MAX_VALUE;
    }

    @Override
    public void entered(long chunkId) {
        window.enter(ChunkId.container(chunkId));
    }

    @Override
    public void left(long chunkId) {
        window.slide();
    }

    @Override
    public void added(int place) {}

    @Override
    public int victim() {
        int victim = cached.oldest();
        for (int place = cached.newer(victim); place != CachedContainers.NONE; place = cached.newer(place)) {
            if (nextReference(place) > nextReference(victim)) {
                victim = place;
            }
        }
        return victim;
    }

    private long nextReference(int place) {
        int entry = window.find(cached.container(place));
        return entry == LookaheadWindow.NONE ? Long.MAX_VALUE : window.next(entry);
    }

    @Override
    public long tableBytes() {
        return window.heapBytes();
    }
}
