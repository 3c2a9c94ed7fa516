package org.opendedup.sar.restore.frame;

import org.opendedup.sar.common.ByteGauge;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameTable;

/** Receives the frames that one {@link FrameTurn} has read from the disk. */
public interface FrameSink {
    FrameSink NONE = new FrameSink() {};

    /** Whether the caller needs a frame; called when the frame is claimed. */
    default boolean wants(FrameTable table, long container, int frame) {
        return true;
    }

    /**
     * Receives a frame that was read. Called by several threads, until the turn is closed. Its bytes may be overwritten
     * afterwards unless {@link #keepsFrames}.
     */
    default void onFrame(int number, Frame frame) {}

    /**
     * Notes that frames were read.
     *
     * @param bytes size of these frames in their file
     */
    default void onBytesRead(long bytes) {}

    /**
     * Notes that all wanted frames of a container were read.
     *
     * @param nanos total time of the requests, in nanoseconds
     */
    default void onContainerRead(long nanos) {}

    /** Whether the frames are used after they were received: they stay in the cache. */
    default boolean keepsFrames() {
        return true;
    }

    /** Returns the gauge of bytes that were read and are not decoded yet. */
    default ByteGauge memory() {
        return new ByteGauge();
    }
}
