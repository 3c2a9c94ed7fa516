package org.opendedup.sar.restore;

import java.util.BitSet;
import org.opendedup.sar.container.FrameTable;

/**
 * What a file wants of one container: which slots in all, and which frames since the container was last read. For one thread.
 */
final class ContainerUse {
    private final BitSet slots = new BitSet();
    /** Frames wanted since the container was last read; their reading is counted when that is forgotten. */
    private final BitSet frames = new BitSet();
    /** Offset in the file of the last reference. */
    private long lastOffset;
    /** Slot whose bytes are being gathered: a page border cuts a chunk into two references. */
    private int openSlot = -1;

    private int openEnd;
    private long wantedBytes;

    /** Whether the container is wanted again so late that what was read of it is forgotten. */
    boolean isForgotten(long fileOffset, long windowBytes) {
        return !frames.isEmpty() && fileOffset - lastOffset > windowBytes;
    }

    /**
     * Notes a reference; a chunk counts once, however often it is wanted.
     *
     * @param frame that holds the slot; -1: it is not on the disk yet, and costs no reading
     */
    void want(int slot, int frame, int chunkOffset, int length, long fileOffset) {
        boolean continued = slot == openSlot && chunkOffset == openEnd;
        if (!slots.get(slot) || continued) {
            wantedBytes += length;
            openSlot = slot;
            openEnd = chunkOffset + length;
        }
        slots.set(slot);
        if (frame >= 0) {
            frames.set(frame);
        }
        lastOffset = fileOffset + length;
    }

    /** Bytes of the different chunks wanted. */
    long wantedBytes() {
        return wantedBytes;
    }

    /** Counts the reading of the frames wanted since the last time, and forgets them. */
    void read(FrameTable table, long maxGapBytes, Reads reads) {
        reads.containers += frames.isEmpty() ? 0 : 1;
        for (int first = frames.nextSetBit(0); first >= 0; ) {
            int last = first;
            int next = frames.nextSetBit(last + 1);
            while (next >= 0 && table.fileOffset(next) - end(table, last) <= maxGapBytes) {
                last = next;
                next = frames.nextSetBit(last + 1);
            }
            reads.requests++;
            reads.bytes += end(table, last) - table.fileOffset(first);
            first = next;
        }
        frames.clear();
    }

    private static long end(FrameTable table, int frame) {
        return table.fileOffset(frame) + table.fileLength(frame);
    }

    /** Work of a disk, summed up. */
    static final class Reads {
        long containers;
        long requests;
        long bytes;
    }
}
