package org.opendedup.sar.restore.frame;

class LruFrameCacheTest extends FrameCacheContract {
    @Override
    protected FrameCache make(long maxBytes) {
        return FrameCaches.lru(maxBytes);
    }
}
