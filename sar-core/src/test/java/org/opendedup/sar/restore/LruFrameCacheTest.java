package org.opendedup.sar.restore;

class LruFrameCacheTest extends FrameCacheContract {
    @Override
    protected FrameCache make(long maxBytes) {
        return FrameCaches.lru(maxBytes);
    }
}
