package org.opendedup.sar.container;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import org.opendedup.sar.container.ContainerFormat.Identity;

/**
 * What the open containers share to turn chunks into encoded frames: the workers, the compressor, and pools of the two
 * buffers a frame needs, whose total the budget bounds.
 */
final class FrameEncoder {
    /** A new ratio weighs an eighth: it follows the data within half a container. */
    private static final double RATIO_WEIGHT = 1.0 / 8;

    /** Header, checksum and the chunk list of some hundred chunks: what a frame's buffer has beyond the chunk bytes. */
    private static final int ROOM_BYTES = 4096;

    private final int frameBytes;
    private final Compressor compressor;
    private final Executor workers;
    private final InFlightBudget budget;
    private final ConcurrentLinkedQueue<RawFrame> rawFrames = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Bytes> buffers = new ConcurrentLinkedQueue<>();

    /** Stored over raw bytes of late; a lost update does no harm. */
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

    /** An empty frame. */
    RawFrame take(int firstSlot) {
        RawFrame pooled = rawFrames.poll();
        RawFrame frame = pooled == null ? new RawFrame(frameBytes) : pooled;
        frame.start(firstSlot);
        return frame;
    }

    /** Counts a frame as in flight; what {@link #release} is to take back. */
    long admit(RawFrame frame) {
        long bytes = frame.capacity();
        budget.add(bytes);
        return bytes;
    }

    /** What frames are admitted to. */
    InFlightBudget budget() {
        return budget;
    }

    void execute(Runnable task) {
        workers.execute(task);
    }

    /** Encodes a frame into a pooled buffer. */
    Bytes encode(RawFrame frame, Identity identity) {
        Bytes pooled = buffers.poll();
        Bytes out = pooled == null ? new Bytes(frameBytes + frameBytes / 8 + ROOM_BYTES) : pooled;
        FrameFormat.encode(frame, identity, compressor, out);
        double before = storedRatio;
        storedRatio = before + RATIO_WEIGHT * ((double) out.length() / frame.bytes() - before);
        return out;
    }

    /** Takes back an encoded frame's buffer. One that grew for a large chunk is dropped. */
    void giveBack(Bytes buffer) {
        if (buffer.array().length <= 2 * frameBytes + 2 * ROOM_BYTES) {
            buffers.add(buffer);
        }
    }

    /** Takes back a frame that was never admitted. */
    void giveBack(RawFrame frame) {
        if (frame.capacity() == frameBytes) {
            rawFrames.add(frame);
        }
    }

    /** Takes back a frame that was admitted. */
    void release(RawFrame frame, long admittedBytes) {
        giveBack(frame);
        budget.release(admittedBytes);
    }

    /** What so many chunk bytes will take on the disk, going by the frames encoded last. */
    long estimateStored(long rawBytes) {
        return (long) (rawBytes * storedRatio);
    }
}
