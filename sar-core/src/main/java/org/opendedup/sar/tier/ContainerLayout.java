package org.opendedup.sar.tier;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.container.FrameTable;

/** Where a container's chunks lie on the disk; its frames are numbered in the order of their places. */
public interface ContainerLayout {
    /** The frame that holds a slot, or -1. */
    int frameOf(int slot);

    /** Offset of a frame's first byte in the container's file. */
    long fileOffset(int frame);

    /** Bytes of a frame on the disk. */
    int fileLength(int frame);

    /** Bytes of all its chunks before compression. */
    long rawBytes();

    /** Finds the layout of a container; null if it can't be had. */
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
