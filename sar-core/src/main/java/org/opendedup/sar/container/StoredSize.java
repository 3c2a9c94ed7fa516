package org.opendedup.sar.container;

import org.opendedup.sar.common.Fingerprints;

/** What chunks take in a container file, for those who predict it: the sums of docs/FORMAT.md. All figures are bytes. */
public final class StoredSize {
    /** Of a frame's line in the frame table: five varints, of 1, 1, 1, 2 to 3 and 3 bytes. */
    private static final int FRAME_TABLE_LINE_BYTES = 9;
    /** Of a frame table beside its lines: version, generation, number of frames and checksum. */
    private static final int FRAME_TABLE_BYTES = 7;

    private StoredSize() {}

    /** A chunk's entry in a chunk list: its length as a varint, and its fingerprint. */
    public static int listEntry(int chunkBytes) {
        int varintBytes = (Integer.SIZE - Integer.numberOfLeadingZeros(chunkBytes | 1) + 6) / 7;
        return varintBytes + Fingerprints.BYTES;
    }

    /**
     * A frame, and what the container's directory repeats of it.
     *
     * @param listBytes its chunks' list entries
     * @param payloadBytes its chunks, compressed if that makes them smaller
     */
    public static int frame(int listBytes, int payloadBytes) {
        return FrameFormat.HEADER_BYTES
                + listBytes
                + payloadBytes
                + FrameFormat.CRC_BYTES
                + listBytes
                + FRAME_TABLE_LINE_BYTES;
    }

    /** A container file without its frames. */
    public static int container() {
        return ContainerFormat.HEADER_BYTES + FRAME_TABLE_BYTES + Integer.BYTES + ContainerFormat.FOOTER_BYTES;
    }
}
