package org.opendedup.sar.container;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import org.opendedup.sar.container.format.Bytes;
import org.opendedup.sar.container.format.Compressor;
import org.opendedup.sar.container.format.ContainerWriting;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.container.format.RawFrame;

/**
 * Encodes chunks into frames for all open containers. Holds the workers, the compressor, and pools of the two buffers
 * that a frame needs; the budget bounds the total size of these buffers.
 */
final class FrameEncoder {
    /** Weight of the newest compression ratio: the average follows the data within half a container. */
    private static final double RATIO_WEIGHT = 1.0 / 8;

    /**
     * Extra bytes in a frame's buffer, besides the chunk bytes: header, checksum and a chunk list of some hundred
     * chunks.
     */
    private static final int ROOM_BYTES = 4096;

    private final int frameBytes;
    private final Compressor compressor;
    private final Executor workers;
    private final InFlightBudget budget;
    private final ConcurrentLinkedQueue<RawFrame> rawFrames = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Bytes> buffers = new ConcurrentLinkedQueue<>();

    /** Stored bytes divided by raw bytes, a moving average; a lost update is harmless. */
    private volatile double storedRatio = 1;

    FrameEncoder(int frameBytes, Compressor compressor, Executor workers, InFlightBudget budget) {
        this.frameBytes = frameBytes;
        this.compressor = compressor;
        this.workers = workers;
        this.budget = budget;
    }

    int frameBytes() {
        return frameBytes;
    }

    /** Returns an empty frame that starts at a slot. */
    RawFrame take(int firstSlot) {
        RawFrame pooled = rawFrames.poll();
        RawFrame frame = pooled == null ? new RawFrame(frameBytes) : pooled;
        frame.start(firstSlot);
        return frame;
    }

    /** Counts a frame as in flight; returns the number of bytes to pass to {@link #release}. */
    long admit(RawFrame frame) {
        long bytes = frame.capacity();
        budget.add(bytes);
        return bytes;
    }

    /** Returns the budget that bounds the frames in flight. */
    InFlightBudget budget() {
        return budget;
    }

    void execute(Runnable task) {
        workers.execute(task);
    }

    /**
     * Encodes a frame into a pooled buffer.
     *
     * @param trial that of the frame's stream
     */
    Bytes encode(RawFrame frame, ContainerWriting writing, CompressionTrial trial) {
        Bytes pooled = buffers.poll();
        Bytes out = pooled == null ? new Bytes(frameBytes + frameBytes / 8 + ROOM_BYTES) : pooled;
        if (trial.isDue(frame.bytes())) {
            boolean shrank = FrameFormat.encode(frame, writing, compressor, out);
            // Where a trial takes no time, none is worth leaving out: each one left out may lose space.
            if (compressor.isTrialSlow()) {
                trial.tried(frame.bytes(), shrank);
            }
        } else {
            FrameFormat.encodeRaw(frame, writing, out);
        }
        double before = storedRatio;
        storedRatio = before + RATIO_WEIGHT * ((double) out.length() / frame.bytes() - before);
        return out;
    }

    /** Puts an encoded frame's buffer back into the pool. Drops a buffer that grew for a large chunk. */
    void giveBack(Bytes buffer) {
        if (buffer.array().length <= 2 * frameBytes + 2 * ROOM_BYTES) {
            buffers.add(buffer);
        }
    }

    /** Puts a frame that is not admitted back into the pool. Drops a frame that grew. */
    void giveBack(RawFrame frame) {
        if (frame.capacity() == frameBytes) {
            rawFrames.add(frame);
        }
    }

    /** Puts an admitted frame back into the pool and returns its bytes to the budget. */
    void release(RawFrame frame, long admittedBytes) {
        giveBack(frame);
        budget.release(admittedBytes);
    }

    /** Returns the estimated size on disk of {@code rawBytes} chunk bytes, from the ratio of the latest frames. */
    long estimateStored(long rawBytes) {
        return (long) (rawBytes * storedRatio);
    }
}
