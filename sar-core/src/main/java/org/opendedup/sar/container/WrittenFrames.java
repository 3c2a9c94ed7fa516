package org.opendedup.sar.container;

import org.opendedup.sar.container.format.Bytes;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerWriting;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.RawFrame;

/**
 * The frames in the file of an open container: their frame table, and their chunk lists as the container's directory
 * repeats them. They need not be durable.
 *
 * <p>Has no lock of its own: {@link OpenFrames} calls each method with its lock held.
 */
final class WrittenFrames {
    private final ContainerWriting writing;
    private final FrameTable.Builder table;
    private final Bytes chunkLists = new Bytes(1024);
    private long fileBytes = ContainerFormat.HEADER_BYTES;

    WrittenFrames(ContainerWriting writing) {
        this.writing = writing;
        table = new FrameTable.Builder(writing.identity().writing());
    }

    /** Adds a frame that was written at {@code offset} of the container, in bytes. */
    void add(RawFrame raw, Bytes encoded, long offset) {
        int length = encoded.length();
        table.add(raw.firstSlot(), raw.count(), Math.toIntExact(offset), length, raw.bytes());
        raw.putList(chunkLists);
        fileBytes = offset + length;
    }

    /** Removes all but the first {@code kept} frames from the table; the container can't be sealed afterwards. */
    void truncate(int kept) {
        table.truncate(kept);
    }

    /** Returns the number of frames. */
    int count() {
        return table.frames();
    }

    /** Returns the highest slot plus 1. */
    int slots() {
        return table.slots();
    }

    /** Returns the highest slot of the first {@code frames} frames plus 1. */
    int slots(int frames) {
        return table.slots(frames);
    }

    /** Returns the number of the frame that holds a slot, or -1 if none does. */
    int frameOf(int slot) {
        return table.frameOf(slot);
    }

    FrameTable table() {
        return table.build();
    }

    /** Returns the length of header and frames in the file, in bytes. */
    long fileBytes() {
        return fileBytes;
    }

    /** Returns the directory and footer that follow the frames in a container that has {@code position} bytes. */
    Bytes tail(byte[] tableBytes, long position) {
        return ContainerFormat.tail(writing, tableBytes, chunkLists, position);
    }
}
