package org.opendedup.sar.container;

import java.io.IOException;

/** Takes the frames of one {@link ContainerStore#readFrames}: each exactly once. */
public interface FrameConsumer {
    /** A frame that was read and whose checksum holds. */
    void frame(int frame, Frame contents);

    /** A frame that could not be read, or is not what was written. */
    void damaged(int frame, IOException failure);

    /** A request for these frames has read so many bytes of the container's file, and took so long. Called by the reading thread. */
    default void requested(long offset, int bytes, long nanos) {}

    /** Whether the SHA-256 of every chunk is to be checked as well, beside the frame's CRC-32C. */
    default boolean verifiesFingerprints() {
        return false;
    }
}
