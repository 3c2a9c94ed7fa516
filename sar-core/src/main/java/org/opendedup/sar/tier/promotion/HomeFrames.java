package org.opendedup.sar.tier.promotion;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.container.format.Frame;

/** Reads frames of containers for promotion in the background. Safe for use by many threads. */
public interface HomeFrames {
    /** Returns the number of the frame that holds a chunk. May read the container's frame table from the disk. */
    int frameOf(long chunkId) throws IOException;

    /** Returns the frame if it is in memory, else null. */
    @Nullable
    Frame inMemory(long container, int frame);

    /**
     * Reads frames of a container from the disk in one turn; readers that were waiting earlier are served first.
     *
     * @param frames frame numbers, ascending; the first {@code count} are read
     * @param consumer receives the frames in this order, in this thread
     */
    void read(long container, int[] frames, int count, FrameConsumer consumer) throws IOException;
}
