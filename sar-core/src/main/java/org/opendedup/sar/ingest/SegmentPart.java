package org.opendedup.sar.ingest;

import org.opendedup.sar.chunk.Segment;

/**
 * The chunks of a segment that are consecutive bytes of one file.
 *
 * @param inode inode number of the file
 * @param position offset in the file of the first byte
 * @param start offset in the segment's buffer of the first byte, where a chunk begins
 * @param length number of bytes; a chunk ends there
 * @param open whether more of the file follows and will be stored
 * @param listener notified when the recipe describes them
 */
record SegmentPart(long inode, long position, int start, int length, boolean open, StoreListener listener) {
    /** Returns whether a chunk belongs to this part. */
    boolean has(Segment segment, int chunk) {
        int offset = segment.offset(chunk);
        return offset >= start && offset < start + length;
    }

    /** Returns the offset in the file of a chunk of this part. */
    long positionOf(Segment segment, int chunk) {
        return position + segment.offset(chunk) - start;
    }

    long end() {
        return position + length;
    }
}
