package org.opendedup.sar.restore.frame;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.container.format.Frame;

/**
 * Keeps decoded frames of containers in memory, within a budget of bytes. The implementation chooses which frames are
 * evicted. Safe for use by many threads.
 */
public interface FrameCache {
    /** Returns the frame, or null if it is not in memory. */
    @Nullable
    Frame get(long container, int frame);

    void put(long container, int frame, Frame decoded);

    /** Removes every frame of a container, because its file was rewritten or removed. */
    void invalidate(long container);

    /** Most bytes that it holds. */
    long maxBytes();

    /** Bytes held, approximately. */
    long weightBytes();
}
