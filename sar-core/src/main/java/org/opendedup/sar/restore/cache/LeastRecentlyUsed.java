package org.opendedup.sar.restore.cache;

/** LRU: the policy that every published restore cache is compared with. It uses no window. */
final class LeastRecentlyUsed implements VictimRule {
    private final CachedContainers cached;

    LeastRecentlyUsed(CachedContainers cached) {
        this.cached = cached;
    }

    @Override
    public long windowBytes() {
        return 0;
    }

    @Override
    public void entered(long chunkId) {}

    @Override
    public void left(long chunkId) {}

    @Override
    public void added(int place) {}

    @Override
    public int victim() {
        return cached.oldest();
    }

    @Override
    public long tableBytes() {
        return 0;
    }
}
