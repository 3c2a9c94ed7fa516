package org.opendedup.sar.restore;

class LruContainerCacheTest extends ContainerCacheContract {
    @Override
    protected ContainerCache make(long maxBytes) {
        return ContainerCaches.lru(maxBytes);
    }
}
