package org.opendedup.sar.restore.fragmentation;

import java.util.BitSet;
import org.opendedup.sar.container.format.LocatedTable;

/**
 * The chunks of one container that a file wants: all slots, and the frames since the container was last read. For one
 * thread.
 */
final class ContainerUse {
    private final BitSet slots = new BitSet();
    /**
     * Frames wanted since the container was last read; their read is counted when the container is dropped from memory.
     */
    private final BitSet frames = new BitSet();
    /** The reader's batch with the first reference since the container was last read. */
    private long firstBatch;
    /** Offset in the file at which the last reference ends. */
    private long lastOffset;
    /** Slot whose bytes are being added up: a page border cuts a chunk into two references. */
    private int openSlot = -1;

    private int openEnd;
    private long wantedBytes;

    /** Whether the container is wanted again so late that it has been dropped from memory. */
    boolean isForgotten(long fileOffset, long windowBytes) {
        return !frames.isEmpty() && fileOffset - lastOffset > windowBytes;
    }

    /**
     * Notes a reference; a chunk counts once, however often it is wanted.
     *
     * @param frame number of the frame that holds the slot; -1 if it is not on the disk yet, and costs no read
     * @param batch number of the reader's batch that has the reference
     */
    void want(int slot, int frame, int chunkOffset, int length, long fileOffset, long batch) {
        boolean continued = slot == openSlot && chunkOffset == openEnd;
        if (!slots.get(slot) || continued) {
            wantedBytes += length;
            openSlot = slot;
            openEnd = chunkOffset + length;
        }
        slots.set(slot);
        if (frame >= 0) {
            firstBatch = frames.isEmpty() ? batch : firstBatch;
            frames.set(frame);
        }
        lastOffset = fileOffset + length;
    }

    /** Bytes of the different chunks wanted. */
    long wantedBytes() {
        return wantedBytes;
    }

    /**
     * Adds the ranges of the frames wanted since the last read to {@code disk}, and clears them.
     *
     * @return whether there were any
     */
    boolean read(LocatedTable at, long maxGapBytes, DiskRanges disk) {
        boolean any = !frames.isEmpty();
        for (int first = frames.nextSetBit(0); first >= 0; ) {
            int last = first;
            int next = frames.nextSetBit(last + 1);
            while (next >= 0 && at.start(next) - at.end(last) <= maxGapBytes) {
                last = next;
                next = frames.nextSetBit(last + 1);
            }
            disk.add(at.pack(), at.start(first), at.end(last), firstBatch);
            first = next;
        }
        frames.clear();
        return any;
    }
}
