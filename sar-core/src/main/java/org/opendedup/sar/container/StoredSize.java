package org.opendedup.sar.container;

import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.FrameFormat;

/**
 * Computes the bytes that chunks occupy in a container file, for callers that predict it: the formulas of
 * docs/FORMAT.md. All results are in bytes.
 */
public final class StoredSize {
    /** Bytes of a frame's line in the frame table: five varints, of 1, 1, 1, 2 to 3 and 3 bytes. */
    private static final int FRAME_TABLE_LINE_BYTES = 9;
    /** Bytes of a frame table besides its lines: version, generation, number of frames and checksum. */
    private static final int FRAME_TABLE_BYTES = 7;

    private StoredSize() {}

    /** Returns the size of a chunk's entry in a chunk list: its length as a varint, and its fingerprint. */
    public static int listEntry(int chunkBytes) {
        int varintBytes = (Integer.SIZE - Integer.numberOfLeadingZeros(chunkBytes | 1) + 6) / 7;
        return varintBytes + Fingerprints.BYTES;
    }

    /**
     * Returns the size of a frame and of its repetition in the container's directory.
     *
     * @param listBytes total bytes of its chunks' list entries
     * @param payloadBytes total bytes of its chunks, compressed if that makes them smaller
     */
    public static int frame(int listBytes, int payloadBytes) {
        return FrameFormat.HEADER_BYTES
                + listBytes
                + payloadBytes
                + FrameFormat.CRC_BYTES
                + listBytes
                + FRAME_TABLE_LINE_BYTES;
    }

    /** Returns the size of a container file without its frames. */
    public static int container() {
        return ContainerFormat.HEADER_BYTES + FRAME_TABLE_BYTES + Integer.BYTES + ContainerFormat.FOOTER_BYTES;
    }
}
