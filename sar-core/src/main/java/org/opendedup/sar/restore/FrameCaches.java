package org.opendedup.sar.restore;

/** The policies of the restore cache, by name. */
public final class FrameCaches {
    private FrameCaches() {}

    /** Least recently used, holding at most {@code maxBytes} of decoded frames. */
    public static FrameCache lru(long maxBytes) {
        return new LruFrameCache(maxBytes);
    }
}
