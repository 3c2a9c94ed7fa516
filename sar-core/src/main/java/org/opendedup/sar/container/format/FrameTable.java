package org.opendedup.sar.container.format;

import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.common.Writing;

/**
 * The positions of the frames of one container in its file, and the slots that they hold: maps a slot to one disk read.
 * Immutable. Frames are numbered from 0 in the order of their slots, which is also their order in the file. Slots and
 * bytes between two frames may be missing where recovery left out a damaged frame that nobody needs.
 *
 * <p>A frame's number and slots are the same in every generation of the container. So a frame of which a later
 * generation keeps no chunk is <em>removed</em>, not left out: it keeps its number and slots, and has length 0 at the
 * end of the frame before it. Recovery does the same for each slot that it did not find, so that healing can add it. A
 * frame whose chunks are all lost has bytes in the file, its chunk list, and raw length 0.
 */
public final class FrameTable {
    /** Version of a table in which a frame has only lost chunks. */
    static final int VERSION = 3;
    /** Version of any other table. */
    static final int FORMER_VERSION = 2;

    private final Writing writing;
    private final int[] firstSlots;
    private final int[] slotCounts;
    private final int[] fileOffsets;
    private final int[] fileLengths;
    private final int[] rawLengths;

    private FrameTable(Builder builder, int frames) {
        writing = builder.writing;
        firstSlots = Arrays.copyOf(builder.firstSlots, frames);
        slotCounts = Arrays.copyOf(builder.slotCounts, frames);
        fileOffsets = Arrays.copyOf(builder.fileOffsets, frames);
        fileLengths = Arrays.copyOf(builder.fileLengths, frames);
        rawLengths = Arrays.copyOf(builder.rawLengths, frames);
    }

    /** Returns the writing of the container that the table describes. */
    public Writing writing() {
        return writing;
    }

    /** Returns the number of frames. */
    public int frames() {
        return firstSlots.length;
    }

    /**
     * Returns whether the table has a frame, by its number from 0, also if it is removed. The last frames of a
     * container that is being written are in memory only.
     */
    public boolean contains(int frame) {
        return frame < frames();
    }

    public int firstSlot(int frame) {
        return firstSlots[frame];
    }

    /** Returns the number of consecutive slots that a frame covers, also if it is removed. */
    public int slotCount(int frame) {
        return slotCounts[frame];
    }

    /** Returns the highest slot of the container plus 1. */
    public int slots() {
        int last = frames() - 1;
        return last < 0 ? 0 : firstSlots[last] + slotCounts[last];
    }

    /** Returns whether the container was written anew without this frame, which has no bytes then. */
    public boolean isRemoved(int frame) {
        return fileLengths[frame] == 0;
    }

    /** Returns the offset in the container file of a frame's first byte. */
    public long fileOffset(int frame) {
        return fileOffsets[frame];
    }

    /** Returns the length of a frame in the file, in bytes, including its header and checksum; 0 if it is removed. */
    public int fileLength(int frame) {
        return fileLengths[frame];
    }

    /** Returns the uncompressed length of a frame's chunks, in bytes; 0 if it is removed, or all are lost. */
    public int rawLength(int frame) {
        return rawLengths[frame];
    }

    /**
     * Returns the frame with this slot, or -1 if none has it or it is removed. The chunk may be removed from the frame.
     */
    public int frameOf(int slot) {
        int frame = anyFrameOf(slot);
        return frame >= 0 && isRemoved(frame) ? -1 : frame;
    }

    /** As {@link #frameOf}, also a removed frame. */
    public int anyFrameOf(int slot) {
        return anyFrameOf(slot, frames(), firstSlots, slotCounts);
    }

    private static int anyFrameOf(int slot, int frames, int[] firstSlots, int[] slotCounts) {
        int found = Arrays.binarySearch(firstSlots, 0, frames, slot);
        int frame = found >= 0 ? found : -found - 2;
        return frame >= 0 && slot < firstSlots[frame] + slotCounts[frame] ? frame : -1;
    }

    /** Returns the heap bytes of the table: five numbers a frame, and the headers of six objects. */
    public int weightBytes() {
        return 128 + 5 * Integer.BYTES * frames();
    }

    /** Returns the table as a container stores it; FORMAT.md describes it. */
    public byte[] encode() {
        Bytes out = new Bytes(16 + 12 * frames());
        put(out);
        return out.toArray();
    }

    /**
     * Returns the table in the form stored outside the containers: with the salt, which a container's own table need
     * not repeat.
     */
    public byte[] encodeWithSalt() {
        Bytes out = new Bytes(24 + 12 * frames());
        out.putLong(writing.salt());
        put(out);
        return out.toArray();
    }

    private void put(Bytes out) {
        int start = out.length();
        out.putByte(hasFrameWithoutChunkBytes() ? VERSION : FORMER_VERSION);
        out.putVarint(writing.generation());
        out.putVarint(frames());
        int slot = 0;
        int offset = ContainerFormat.HEADER_BYTES;
        for (int frame = 0; frame < frames(); frame++) {
            out.putVarint(firstSlots[frame] - slot);
            out.putVarint(slotCounts[frame]);
            out.putVarint(fileOffsets[frame] - offset);
            out.putVarint(fileLengths[frame]);
            out.putVarint(rawLengths[frame]);
            slot = firstSlots[frame] + slotCounts[frame];
            offset = fileOffsets[frame] + fileLengths[frame];
        }
        out.putCrc(start);
    }

    private boolean hasFrameWithoutChunkBytes() {
        for (int frame = 0; frame < frames(); frame++) {
            if (!isRemoved(frame) && rawLengths[frame] == 0) {
                return true;
            }
        }
        return false;
    }

    /** Reads a table encoded by {@link #encodeWithSalt}; {@code place} names it in messages. */
    public static FrameTable decodeWithSalt(byte[] bytes, String place)
            throws CorruptionException, UnsupportedFormatException {
        if (bytes.length < Long.BYTES) {
            throw new CorruptionException(place, -1, "a salt and a frame table", bytes.length + " bytes");
        }
        return decode(bytes, Long.BYTES, Bytes.getLong(bytes, 0), place);
    }

    /** Reads an encoded table of the container with that salt; {@code place} names it in messages. */
    public static FrameTable decode(byte[] bytes, long salt, String place)
            throws CorruptionException, UnsupportedFormatException {
        return decode(bytes, 0, salt, place);
    }

    private static FrameTable decode(byte[] bytes, int start, long salt, String place)
            throws CorruptionException, UnsupportedFormatException {
        int end = bytes.length - Integer.BYTES;
        if (end <= start) {
            throw new CorruptionException(place, -1, "a frame table", bytes.length - start + " bytes");
        }
        ContainerFormat.checkCrc(bytes, start, end - start, place, -1);
        if (bytes[start] != VERSION && bytes[start] != FORMER_VERSION) {
            throw new UnsupportedFormatException(place, bytes[start] & 0xff, VERSION);
        }
        ByteReader in = new ByteReader(bytes, start + 1, end, place);
        Builder builder = new Builder(new Writing(salt, in.readVarint()));
        int frames = in.readVarint();
        long slot = 0;
        long offset = ContainerFormat.HEADER_BYTES;
        for (int frame = 0; frame < frames; frame++) {
            long firstSlot = slot + in.readVarint();
            int slotCount = in.readVarint();
            long fileOffset = offset + in.readVarint();
            int fileLength = in.readVarint();
            int rawLength = in.readVarint();
            boolean removed = fileLength == 0 && rawLength == 0 && fileOffset == offset;
            slot = firstSlot + slotCount;
            offset = fileOffset + fileLength;
            if (slotCount == 0
                    || slot > ChunkId.MAX_SLOTS
                    || offset > Integer.MAX_VALUE
                    || !removed && (fileLength == 0 || rawLength == 0 && bytes[start] == FORMER_VERSION)
                    || rawLength > FrameFormat.MAX_RAW_BYTES
                    || fileLength > FrameFormat.MAX_FRAME_BYTES) {
                throw new CorruptionException(
                        place, -1, "frames within the format's limits", "frame " + frame + " beyond");
            }
            builder.add((int) firstSlot, slotCount, (int) fileOffset, fileLength, rawLength);
        }
        if (in.remaining() != 0) {
            throw new CorruptionException(place, -1, "the end of the frame table", in.remaining() + " more bytes");
        }
        return builder.build();
    }

    /** Collects frames in the order of their slots. For one thread. */
    public static final class Builder {
        private final Writing writing;
        private int frames;
        private int[] firstSlots = new int[64];
        private int[] slotCounts = new int[64];
        private int[] fileOffsets = new int[64];
        private int[] fileLengths = new int[64];
        private int[] rawLengths = new int[64];

        public Builder(Writing writing) {
            this.writing = writing;
        }

        public void add(int firstSlot, int slotCount, int fileOffset, int fileLength, int rawLength) {
            if (frames == firstSlots.length) {
                firstSlots = Arrays.copyOf(firstSlots, frames * 2);
                slotCounts = Arrays.copyOf(slotCounts, frames * 2);
                fileOffsets = Arrays.copyOf(fileOffsets, frames * 2);
                fileLengths = Arrays.copyOf(fileLengths, frames * 2);
                rawLengths = Arrays.copyOf(rawLengths, frames * 2);
            }
            firstSlots[frames] = firstSlot;
            slotCounts[frames] = slotCount;
            fileOffsets[frames] = fileOffset;
            fileLengths[frames] = fileLength;
            rawLengths[frames] = rawLength;
            frames++;
        }

        /** Adds a frame of which this generation keeps no chunk. */
        public void addRemoved(int firstSlot, int slotCount) {
            int last = frames - 1;
            int end = last < 0 ? ContainerFormat.HEADER_BYTES : fileOffsets[last] + fileLengths[last];
            add(firstSlot, slotCount, end, 0, 0);
        }

        public int frames() {
            return frames;
        }

        /** As {@link FrameTable#frameOf}. */
        public int frameOf(int slot) {
            int frame = anyFrameOf(slot, frames, firstSlots, slotCounts);
            return frame >= 0 && fileLengths[frame] == 0 ? -1 : frame;
        }

        /** Returns the highest slot plus 1. */
        public int slots() {
            return slots(frames);
        }

        /** Returns the highest slot of the first {@code count} frames plus 1. */
        public int slots(int count) {
            return count == 0 ? 0 : firstSlots[count - 1] + slotCounts[count - 1];
        }

        /** Removes all but the first {@code kept} frames. */
        public void truncate(int kept) {
            frames = Math.min(frames, kept);
        }

        public FrameTable build() {
            return new FrameTable(this, frames);
        }
    }
}
