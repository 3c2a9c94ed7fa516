package org.opendedup.sar.restore;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.container.Frame;

/**
 * Keeps decoded frames of containers in memory, within a budget of bytes. What it evicts is its policy. Safe for use by
 * many threads.
 */
public interface FrameCache {
    /** The frame, or null if it is not in memory. */
    @Nullable
    Frame get(long container, int frame);

    void put(long container, int frame, Frame decoded);

    /** Forgets every frame of a container, because its file was rewritten or removed. */
    void invalidate(long container);

    /** The most bytes that it holds. */
    long maxBytes();

    /** Bytes held, roughly. */
    long weightBytes();
}
