package org.opendedup.sar.hot.promotion;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.container.format.LocatedTable;

/** Positions of a container's chunks on the disk; its frames are numbered in the order of their positions. */
interface ContainerLayout {
    /** Returns the number of the pack that has the container: the disk reads on from one container to the next. */
    long pack();

    /** Returns the frame that holds a slot, or -1 if none does or it is removed. */
    int frameOf(int slot);

    /** Returns the offset of a frame's first byte in the pack. */
    long start(int frame);

    /** Returns the offset in the pack at which a frame ends. */
    long end(int frame);

    /** Returns the offset of the container in its pack. */
    long offset();

    /** Finds the layout of a container; null if it is unavailable. */
    @FunctionalInterface
    interface Source {
        @Nullable
        ContainerLayout of(long container);
    }

    static ContainerLayout of(LocatedTable at) {
        return new TableLayout(at);
    }

    /** The layout that a frame table describes, at the container's present place. */
    record TableLayout(LocatedTable at) implements ContainerLayout {
        @Override
        public long pack() {
            return at.pack();
        }

        @Override
        public int frameOf(int slot) {
            return at.table().frameOf(slot);
        }

        @Override
        public long start(int frame) {
            return at.start(frame);
        }

        @Override
        public long end(int frame) {
            return at.end(frame);
        }

        @Override
        public long offset() {
            return at.offset();
        }
    }
}
