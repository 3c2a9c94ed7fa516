package org.opendedup.sar.check;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.metadata.record.ContainerCounts;

/** Compares the lengths of chunks in the counts with the frames that have them. */
final class FrameLengths {
    private FrameLengths() {}

    /**
     * Checks that the chunks of a frame have the frame's total length, if all of them are counted, and otherwise no
     * more: a frame must have all chunks that are counted.
     *
     * @return what is wrong, as a sentence without a full stop; null if the frame has that length
     */
    static @Nullable String problem(long container, int frame, ContainerCounts counts, ChunkDirectory directory) {
        FrameTable table = directory.table();
        int end = table.firstSlot(frame) + table.slotCount(frame);
        boolean allAlive = true;
        long bytes = 0;
        for (int slot = table.firstSlot(frame); slot < end; slot++) {
            // A lost chunk is counted and is not in the frame.
            boolean isLost = directory.isLost(slot);
            allAlive &= counts.isAlive(slot) || isLost;
            bytes += counts.isAlive(slot) && !isLost ? counts.length(slot) : 0;
        }
        return bytes > table.rawLength(frame) || allAlive && bytes != table.rawLength(frame)
                ? "frame " + frame + " of container " + container + " has " + table.rawLength(frame)
                        + " bytes of chunks and its counts say " + bytes
                : null;
    }
}
