package org.opendedup.sar.restore.frame;

/** Makes the frame caches, one method for each policy. */
public final class FrameCaches {
    private FrameCaches() {}

    /**
     * Returns a cache that evicts the least recently used frames, with at most {@code maxBytes} bytes of decoded
     * frames.
     */
    public static FrameCache lru(long maxBytes) {
        return new LruFrameCache(maxBytes);
    }
}
