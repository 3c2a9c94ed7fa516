package org.opendedup.sar.restore.frame;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.container.format.Frame;

/**
 * Keeps decoded frames of containers in memory, within a budget of bytes, and evicts the least recently used. Safe for
 * use by many threads.
 */
public class FrameCache {
    private record Key(long container, int frame) {}

    private final long maxBytes;
    private final Cache<Key, Frame> frames;

    /** @param maxBytes most bytes of decoded frames */
    public FrameCache(long maxBytes) {
        this.maxBytes = maxBytes;
        frames = CacheBuilder.newBuilder()
                .maximumWeight(maxBytes)
                .weigher((Key key, Frame frame) -> frame.weightBytes())
                .concurrencyLevel(4)
                .build();
    }

    /** Returns the frame, or null if it is not in memory. */
    @Nullable
    Frame get(long container, int frame) {
        return frames.getIfPresent(new Key(container, frame));
    }

    void put(long container, int frame, Frame decoded) {
        frames.put(new Key(container, frame), decoded);
    }

    /** Removes every frame of a container, because its file was rewritten or removed. */
    public void invalidate(long container) {
        frames.asMap().keySet().removeIf(key -> key.container == container);
    }

    public long maxBytes() {
        return maxBytes;
    }

    /** Bytes held, approximately. */
    public long weightBytes() {
        return frames.asMap().values().stream().mapToLong(Frame::weightBytes).sum();
    }
}
