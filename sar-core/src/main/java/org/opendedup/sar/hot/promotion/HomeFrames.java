package org.opendedup.sar.hot.promotion;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.container.format.Frame;

/**
 * Reads frames of containers for work in the background, in turn with the readers of the volume. Safe for use by many
 * threads.
 */
public interface HomeFrames {
    /**
     * Most frames that background work reads in one turn: 2 MiB with frames of 64 KiB. So a reader does not wait long
     * for its own turn.
     */
    int FRAMES_PER_TURN = 32;

    /** Returns the number of the frame that holds a chunk. May read the container's frame table from the disk. */
    int frameOf(long chunkId) throws IOException;

    /** Returns the frame if it is in memory, else null. */
    @Nullable
    Frame inMemory(long container, int frame);

    /**
     * Returns the largest gap between two frames, in bytes, that is read rather than skipped, as the present model of
     * the disk has it. Readers of the volume use the same.
     */
    int gapBytes();

    /**
     * Reads frames of a container from the disk in one turn; readers that were waiting earlier are served first. Frames
     * with gaps of up to {@link #gapBytes} between them are read by one request. The caller must hold no lock that a
     * reader may need during its turn.
     *
     * @param frames frame numbers, ascending; the first {@code count} are read
     * @param consumer receives the frames in this order, in this thread, during the turn: it must not wait for the SSD
     *     or for writers
     */
    void read(long container, int[] frames, int count, FrameConsumer consumer) throws IOException;
}
