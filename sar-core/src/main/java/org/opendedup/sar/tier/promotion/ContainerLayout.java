package org.opendedup.sar.tier.promotion;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.container.format.FrameTable;

/** Positions of a container's chunks on the disk; its frames are numbered in the order of their positions. */
interface ContainerLayout {
    /** Returns the frame that holds a slot, or -1 if none does or it is removed. */
    int frameOf(int slot);

    /** Returns the offset of a frame's first byte in the container's file. */
    long fileOffset(int frame);

    /** Returns the bytes of a frame on the disk. */
    int fileLength(int frame);

    /** Returns the bytes of all chunks of the container before compression. */
    long rawBytes();

    /** Finds the layout of a container; null if it is unavailable. */
    @FunctionalInterface
    interface Source {
        @Nullable
        ContainerLayout of(long container);
    }

    static ContainerLayout of(FrameTable table) {
        long rawBytes = 0;
        for (int frame = 0; frame < table.frames(); frame++) {
            rawBytes += table.rawLength(frame);
        }
        return new TableLayout(table, rawBytes);
    }

    /** The layout that a frame table describes. */
    record TableLayout(FrameTable table, long rawBytes) implements ContainerLayout {
        @Override
        public int frameOf(int slot) {
            return table.frameOf(slot);
        }

        @Override
        public long fileOffset(int frame) {
            return table.fileOffset(frame);
        }

        @Override
        public int fileLength(int frame) {
            return table.fileLength(frame);
        }
    }
}
