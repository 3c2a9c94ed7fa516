package org.opendedup.sar.restore.frame;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.container.format.Frame;

/** Evicts the least recently used frame. The baseline of every published restore cache. */
final class LruFrameCache implements FrameCache {
    private record Key(long container, int frame) {}

    private final long maxBytes;
    private final Cache<Key, Frame> frames;

    LruFrameCache(long maxBytes) {
        this.maxBytes = maxBytes;
        frames = CacheBuilder.newBuilder()
                .maximumWeight(maxBytes)
                .weigher((Key key, Frame frame) -> frame.weightBytes())
                .concurrencyLevel(4)
                .build();
    }

    @Override
    public @Nullable Frame get(long container, int frame) {
        return frames.getIfPresent(new Key(container, frame));
    }

    @Override
    public void put(long container, int frame, Frame decoded) {
        frames.put(new Key(container, frame), decoded);
    }

    @Override
    public void invalidate(long container) {
        frames.asMap().keySet().removeIf(key -> key.container == container);
    }

    @Override
    public long maxBytes() {
        return maxBytes;
    }

    @Override
    public long weightBytes() {
        return frames.asMap().values().stream().mapToLong(Frame::weightBytes).sum();
    }
}
