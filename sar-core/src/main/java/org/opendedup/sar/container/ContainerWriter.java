package org.opendedup.sar.container;

import java.io.Closeable;
import java.io.IOException;
import java.util.Objects;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.container.format.FrameFormat;

/**
 * One stream's lease of an open container. For one thread at a time; other writers may share the container.
 *
 * <p>When a container fails, every writer with chunks in it gets that failure from each further append; a new writer
 * gets a new container. {@link ContainerStore#force} reports that chunks were lost, {@link ContainerStore#isLost} which
 * ones.
 */
public final class ContainerWriter implements Closeable {
    private final WriteLanes lanes;
    private final WriteLane.Lease lease;
    private final long stream;
    private final InFlightBudget budget;
    private final UnsealedContainers unsealed;
    private long appendedBytes;
    private boolean closed;

    /** @param unsealed the containers that a full place may stop, from all writers */
    ContainerWriter(
            WriteLanes lanes, WriteLane.Lease lease, long stream, InFlightBudget budget, UnsealedContainers unsealed) {
        this.lanes = lanes;
        this.lease = lease;
        this.stream = stream;
        this.budget = budget;
        this.unsealed = unsealed;
    }

    /**
     * Appends a chunk: copies its bytes and returns an id by which it can be read from now on. The chunk is durable
     * after the next {@link ContainerStore#force}. Waits while too many bytes are on their way to the disk.
     *
     * @param data array with the chunk at {@code data[offset .. offset + length)}, 1 byte to 16 MiB
     * @param fingerprints array with the chunk's fingerprint from {@code fingerprints[fingerprintOffset]} on
     * @return the chunk id
     * @throws IOException if a new container cannot be created, or the one this writer appends to failed
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
        while (true) {
            try {
                budget.awaitRoom();
                long chunkId = lease.append(data, offset, length, fingerprints, fingerprintOffset);
                appendedBytes += length;
                return chunkId;
            } catch (NoSpaceException e) {
                if (!goesOnElsewhere(e)) {
                    throw e;
                }
            }
        }
    }

    /** Returns whether containers that waited for space do not any more. The next force says why, if a disk failed. */
    private boolean goesOnElsewhere(NoSpaceException shortage) {
        try {
            return unsealed.moveShort();
        } catch (IOException e) {
            shortage.addSuppressed(e);
            return false;
        }
    }

    /** Returns the lease; the container stays open for other writers. Idempotent. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            lanes.release(lease, stream, appendedBytes);
        }
    }
}
