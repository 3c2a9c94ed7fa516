package org.opendedup.sar.container;

import java.io.IOException;
import org.opendedup.sar.container.format.Frame;

/** Receives the frames of one {@link ContainerStore#readFrames}, each exactly once. */
public interface FrameConsumer {
    /** Receives a frame that was read and whose checksum holds. */
    void frame(int frame, Frame contents);

    /**
     * Returns whether a frame is used after it was received. If not, its bytes may be overwritten then: an array for
     * each frame would fill the heap as fast as a disk reads.
     */
    default boolean keepsFrames() {
        return true;
    }

    /** Reports a frame that could not be read, or is not what was written. */
    void damaged(int frame, IOException failure);

    /**
     * Reports one disk request for these frames: pack, offset in the pack, length in bytes, and duration in
     * nanoseconds. Called by the reading thread.
     */
    default void requested(long pack, long offset, int bytes, long nanos) {}

    /** Returns whether to check the SHA-256 of every chunk, besides the frame's CRC-32C. */
    default boolean verifiesFingerprints() {
        return false;
    }
}
