package org.opendedup.sar.restore;

/** The policies of the restore cache, by name. */
public final class ContainerCaches {
    private ContainerCaches() {}

    /** Least recently used, holding at most {@code maxBytes} of decoded frames. */
    public static ContainerCache lru(long maxBytes) {
        return new LruContainerCache(maxBytes);
    }
}
