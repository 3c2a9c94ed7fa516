package org.opendedup.sar.io;

import java.nio.file.Path;
import java.util.Arrays;
import jnr.ffi.Memory;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;

/**
 * In which pieces a file lies on its device, as its file system told when it was asked: what is read in this order is read with the
 * fewest seeks. File systems write files that grow side by side in turns, so the order of the files is not that of the disk.
 */
public final class FileLayout {
    /** Of a file of which it can't be told. */
    public static final FileLayout UNKNOWN = new FileLayout(new long[0], new long[0], 0);

    /** Where the pieces begin in the file, rising, and on the device. */
    private final long[] offsets;

    private final long[] places;
    /** Where the last one ends in the file. */
    private final long end;

    FileLayout(long[] offsets, long[] places, long end) {
        this.offsets = offsets;
        this.places = places;
        this.end = end;
    }

    /** Where a byte of the file lies on the device, in bytes; -1 if it is not known, or lies nowhere. */
    public long place(long offset) {
        int piece = piece(offset);
        return piece < 0 || offset >= end ? -1 : places[piece] + offset - offsets[piece];
    }

    /** Where in the file the piece ends that has this byte; {@link Long#MAX_VALUE} behind what is known. */
    public long pieceEnd(long offset) {
        int next = piece(offset) + 1;
        if (next < offsets.length) {
            return offsets[next];
        }
        return offset < end ? end : Long.MAX_VALUE;
    }

    /** The last piece that begins at or before a byte; -1: none does. */
    private int piece(long offset) {
        int found = Arrays.binarySearch(offsets, offset);
        return found >= 0 ? found : -found - 2;
    }

    /** Asks the file system; {@link #UNKNOWN} where it can't tell. */
    static FileLayout of(Path file) {
        Libc.Functions libc = Libc.functions();
        if (libc == null) {
            return UNKNOWN;
        }
        int descriptor = Libc.open(libc, file, Libc.O_RDONLY);
        if (descriptor < 0) {
            return UNKNOWN;
        }
        try {
            return Fiemap.ask(libc, descriptor);
        } finally {
            libc.close(descriptor);
        }
    }

    /** The request FS_IOC_FIEMAP: see the kernel's Documentation/filesystems/fiemap.rst. */
    private static final class Fiemap {
        private static final long REQUEST = 0xC020660BL;
        private static final int HEADER_BYTES = 32;
        private static final int LENGTH_AT = 8;
        private static final int MAPPED_AT = 20;
        private static final int ROOM_AT = 24;
        private static final int EXTENT_BYTES = 56;
        private static final int PHYSICAL_AT = 8;
        private static final int EXTENT_LENGTH_AT = 16;
        private static final int FLAGS_AT = 40;
        /** Unknown, not allocated yet, or encoded: FIEMAP_EXTENT_UNKNOWN, _DELALLOC, _ENCODED. */
        private static final int NOWHERE = 2 | 4 | 8;
        /** A container of 4 MiB has one to three; one of more is hardly worth an order. */
        private static final int MAX_EXTENTS = 32;

        static FileLayout ask(Libc.Functions libc, int descriptor) {
            Pointer map =
                    Memory.allocateDirect(Runtime.getSystemRuntime(), HEADER_BYTES + MAX_EXTENTS * EXTENT_BYTES, true);
            map.putLongLong(LENGTH_AT, Long.MAX_VALUE);
            map.putInt(ROOM_AT, MAX_EXTENTS);
            if (libc.ioctl(descriptor, REQUEST, map) != 0) {
                return UNKNOWN;
            }
            int extents = Math.min(MAX_EXTENTS, map.getInt(MAPPED_AT));
            long[] offsets = new long[extents];
            long[] places = new long[extents];
            int count = 0;
            long end = 0;
            for (int i = 0; i < extents; i++) {
                int at = HEADER_BYTES + i * EXTENT_BYTES;
                if ((map.getInt(at + FLAGS_AT) & NOWHERE) != 0) {
                    return UNKNOWN;
                }
                long offset = map.getLongLong(at);
                long place = map.getLongLong(at + PHYSICAL_AT);
                boolean continues =
                        count > 0 && offset == end && place - places[count - 1] == offset - offsets[count - 1];
                if (!continues) {
                    offsets[count] = offset;
                    places[count] = place;
                    count++;
                }
                end = offset + map.getLongLong(at + EXTENT_LENGTH_AT);
            }
            return new FileLayout(Arrays.copyOf(offsets, count), Arrays.copyOf(places, count), end);
        }
    }
}
