package org.opendedup.sar.io;

import java.nio.file.Path;
import java.util.Arrays;
import jnr.ffi.Memory;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;

/**
 * The positions on its device of the pieces (extents) of a range of a file, as its file system reported them when it
 * was asked. Reading in this order needs the fewest seeks. File systems write files that grow side by side in turns, so
 * the order of the files is not that of the disk. All offsets are relative to the start of the range.
 */
public final class FileLayout {
    /** The layout of a range whose positions are not known. */
    public static final FileLayout UNKNOWN = new FileLayout(new long[0], new long[0], 0);

    /**
     * Start of each piece: {@code offsets} in the range, ascending, and {@code places} on the device, in bytes; a hole
     * after a piece has the place -1.
     */
    private final long[] offsets;

    private final long[] places;
    /** End of the last piece in the range, in bytes. */
    private final long end;

    FileLayout(long[] offsets, long[] places, long end) {
        this.offsets = offsets;
        this.places = places;
        this.end = end;
    }

    /**
     * Returns the position on the device of a byte of the range, in bytes; -1 if it is not known, or the byte has none.
     */
    public long place(long offset) {
        int piece = piece(offset);
        return piece < 0 || offset >= end || places[piece] < 0 ? -1 : places[piece] + offset - offsets[piece];
    }

    /**
     * Returns the offset in the range at which the piece with this byte ends; {@link Long#MAX_VALUE} after the last
     * known piece.
     */
    public long pieceEnd(long offset) {
        int next = piece(offset) + 1;
        if (next < offsets.length) {
            return offsets[next];
        }
        return offset < end ? end : Long.MAX_VALUE;
    }

    /** Returns the last piece that begins at or before a byte; -1 if none does. */
    private int piece(long offset) {
        int found = Arrays.binarySearch(offsets, offset);
        return found >= 0 ? found : -found - 2;
    }

    /** Asks the file system for the layout of a whole file; returns {@link #UNKNOWN} where it cannot report one. */
    static FileLayout of(Path file) {
        try (Descriptor descriptor = Descriptor.open(file, Libc.O_RDONLY)) {
            return descriptor == null ? UNKNOWN : of(descriptor, 0, Long.MAX_VALUE);
        }
    }

    /**
     * Asks the file system for the layout of {@code length} bytes of a file from {@code offset} on; returns
     * {@link #UNKNOWN} where it cannot report one.
     */
    static FileLayout of(Descriptor file, long offset, long length) {
        return Fiemap.ask(file, offset, Math.min(length, Long.MAX_VALUE - offset));
    }

    /** The request FS_IOC_FIEMAP: see the kernel's Documentation/filesystems/fiemap.rst. */
    private static final class Fiemap {
        private static final long REQUEST = 0xC020660BL;
        private static final int HEADER_BYTES = 32;
        private static final int START_AT = 0;
        private static final int LENGTH_AT = 8;
        private static final int MAPPED_AT = 20;
        private static final int ROOM_AT = 24;
        private static final int EXTENT_BYTES = 56;
        private static final int PHYSICAL_AT = 8;
        private static final int EXTENT_LENGTH_AT = 16;
        private static final int FLAGS_AT = 40;
        /**
         * Flags of an extent without a usable position: FIEMAP_EXTENT_UNKNOWN, _DELALLOC (not allocated yet), _ENCODED.
         */
        private static final int NOWHERE = 2 | 4 | 8;
        /**
         * Number of extents that are asked for. A container of 4 MiB has one to three; ordering reads helps little if a
         * range has more than this bound.
         */
        private static final int MAX_EXTENTS = 32;

        static FileLayout ask(Descriptor file, long start, long length) {
            Pointer map =
                    Memory.allocateDirect(Runtime.getSystemRuntime(), HEADER_BYTES + MAX_EXTENTS * EXTENT_BYTES, true);
            map.putLongLong(START_AT, start);
            map.putLongLong(LENGTH_AT, length);
            map.putInt(ROOM_AT, MAX_EXTENTS);
            if (!file.ioctl(REQUEST, map.address())) {
                return UNKNOWN;
            }
            int extents = Math.min(MAX_EXTENTS, map.getInt(MAPPED_AT));
            long[] offsets = new long[2 * extents];
            long[] places = new long[2 * extents];
            int count = 0;
            long end = 0;
            for (int i = 0; i < extents; i++) {
                int at = HEADER_BYTES + i * EXTENT_BYTES;
                if ((map.getInt(at + FLAGS_AT) & NOWHERE) != 0) {
                    return UNKNOWN;
                }
                // File systems report whole extents, which may begin before the range and end after it.
                long before = Math.max(0, start - map.getLongLong(at));
                long offset = map.getLongLong(at) + before - start;
                long place = map.getLongLong(at + PHYSICAL_AT) + before;
                boolean continues =
                        count > 0 && offset == end && place - places[count - 1] == offset - offsets[count - 1];
                if (count > 0 && offset > end) {
                    offsets[count] = end;
                    places[count] = -1;
                    count++;
                }
                if (!continues) {
                    offsets[count] = offset;
                    places[count] = place;
                    count++;
                }
                end = Math.min(length, offset + map.getLongLong(at + EXTENT_LENGTH_AT) - before);
            }
            return new FileLayout(Arrays.copyOf(offsets, count), Arrays.copyOf(places, count), end);
        }
    }
}
