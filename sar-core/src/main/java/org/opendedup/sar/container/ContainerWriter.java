package org.opendedup.sar.container;

import java.io.Closeable;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Fingerprints;

/**
 * One stream's lease of an open container. For one thread at a time; other writers may share the container.
 *
 * <p>When a container fails, every writer with chunks in it gets that failure from each further append; a new writer gets a
 * new container. What was lost, {@link ContainerStore#force} reports and {@link ContainerStore#isLost} tells.
 */
public final class ContainerWriter implements Closeable {
    private final WriteLanes lanes;
    private final WriteLane lane;
    private final long stream;
    private final InFlightBudget budget;
    private long appendedBytes;
    private boolean closed;

    /** Guarded by the lane. */
    @Nullable
    OpenContainer lastContainer;

    ContainerWriter(WriteLanes lanes, WriteLane lane, long stream, InFlightBudget budget) {
        this.lanes = lanes;
        this.lane = lane;
        this.stream = stream;
        this.budget = budget;
    }

    /**
     * Appends a chunk: copies its bytes and gives it an id, by which it can be read from now on. It is durable after the next
     * {@link ContainerStore#force}. Waits while too many bytes are on their way to the disk.
     *
     * @param data {@code data[offset .. offset + length)} is the chunk, 1 byte to 16 MiB
     * @param fingerprints the chunk's begins at {@code fingerprints[fingerprintOffset]}
     * @return the chunk id
     * @throws IOException if a new container cannot be made, or the one this writer appends to failed
     */
    public long append(byte[] data, int offset, int length, byte[] fingerprints, int fingerprintOffset)
            throws IOException {
        Objects.checkFromIndexSize(offset, length, data.length);
        Objects.checkFromIndexSize(fingerprintOffset, Fingerprints.BYTES, fingerprints.length);
        if (length < 1 || length > FrameFormat.MAX_RAW_BYTES) {
            throw new IllegalArgumentException(
                    "a chunk has 1 to " + FrameFormat.MAX_RAW_BYTES + " bytes, not " + length);
        }
        if (closed) {
            throw new IllegalStateException("the writer is closed");
        }
        budget.awaitRoom();
        long chunkId = lane.append(this, data, offset, length, fingerprints, fingerprintOffset);
        appendedBytes += length;
        return chunkId;
    }

    /** Gives the lease back; the container stays open for others. Idempotent. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            lanes.release(lane, stream, appendedBytes);
        }
    }
}
