package org.opendedup.sar.container;

import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.common.Writing;

/**
 * Where the frames of one container lie in its file, and which slots they hold: turns a slot into one disk read. Immutable.
 * Frames are numbered from 0 in the order of both their slots and their places; slots and bytes between two frames may be
 * missing where a damaged frame was left out by recovery.
 */
public final class FrameTable {
    static final int VERSION = 1;

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

    /** The writing of the container that the table describes. */
    public Writing writing() {
        return writing;
    }

    /** Number of frames. */
    public int frames() {
        return firstSlots.length;
    }

    public int firstSlot(int frame) {
        return firstSlots[frame];
    }

    /** Number of consecutive slots a frame holds. */
    public int slotCount(int frame) {
        return slotCounts[frame];
    }

    /** One past the highest slot of the container. */
    public int slots() {
        int last = frames() - 1;
        return last < 0 ? 0 : firstSlots[last] + slotCounts[last];
    }

    /** Offset in the container file of a frame's first byte. */
    public long fileOffset(int frame) {
        return fileOffsets[frame];
    }

    /** Bytes of a frame in the file, its header and checksum included. */
    public int fileLength(int frame) {
        return fileLengths[frame];
    }

    /** Bytes of a frame's chunks. */
    public int rawLength(int frame) {
        return rawLengths[frame];
    }

    /** The frame that holds a slot, or -1 if none does. */
    public int frameOf(int slot) {
        int found = Arrays.binarySearch(firstSlots, slot);
        int frame = found >= 0 ? found : -found - 2;
        return frame >= 0 && slot < firstSlots[frame] + slotCounts[frame] ? frame : -1;
    }

    /** Heap bytes: five numbers a frame, and the headers of six objects. */
    int weightBytes() {
        return 128 + 5 * Integer.BYTES * frames();
    }

    /** The table as a container has it; FORMAT.md describes it. */
    byte[] encode() {
        Bytes out = new Bytes(16 + 12 * frames());
        put(out);
        return out.toArray();
    }

    /** The table as it is kept beside the containers: with the salt, which a container's own table need not repeat. */
    byte[] encodeWithSalt() {
        Bytes out = new Bytes(24 + 12 * frames());
        out.putLong(writing.salt());
        put(out);
        return out.toArray();
    }

    private void put(Bytes out) {
        int start = out.length();
        out.putByte(VERSION);
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

    /** Reads a table made by {@link #encodeWithSalt}; {@code place} names it in messages. */
    static FrameTable decodeWithSalt(byte[] bytes, String place)
            throws CorruptionException, UnsupportedFormatException {
        if (bytes.length < Long.BYTES) {
            throw new CorruptionException(place, -1, "a salt and a frame table", bytes.length + " bytes");
        }
        return decode(bytes, Long.BYTES, Bytes.getLong(bytes, 0), place);
    }

    /** Reads an encoded table of the container with that salt; {@code place} names it in messages. */
    static FrameTable decode(byte[] bytes, long salt, String place)
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
        if (bytes[start] != VERSION) {
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
            slot = firstSlot + slotCount;
            offset = fileOffset + fileLength;
            if (slotCount == 0
                    || slot > ChunkId.MAX_SLOTS
                    || offset > Integer.MAX_VALUE
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

    /** Gathers frames in the order of their slots. For one thread. */
    static final class Builder {
        private final Writing writing;
        private int frames;
        private int[] firstSlots = new int[64];
        private int[] slotCounts = new int[64];
        private int[] fileOffsets = new int[64];
        private int[] fileLengths = new int[64];
        private int[] rawLengths = new int[64];

        Builder(Writing writing) {
            this.writing = writing;
        }

        void add(int firstSlot, int slotCount, int fileOffset, int fileLength, int rawLength) {
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

        int frames() {
            return frames;
        }

        /** The frame that holds a slot, or -1. */
        int frameOf(int slot) {
            int found = Arrays.binarySearch(firstSlots, 0, frames, slot);
            int frame = found >= 0 ? found : -found - 2;
            return frame >= 0 && slot < firstSlots[frame] + slotCounts[frame] ? frame : -1;
        }

        /** One past the highest slot. */
        int slots() {
            return frames == 0 ? 0 : firstSlots[frames - 1] + slotCounts[frames - 1];
        }

        /** Forgets all but the first {@code kept} frames. */
        void truncate(int kept) {
            frames = Math.min(frames, kept);
        }

        FrameTable build() {
            return new FrameTable(this, frames);
        }
    }
}
