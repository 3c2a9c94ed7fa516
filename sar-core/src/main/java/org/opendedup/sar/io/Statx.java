package org.opendedup.sar.io;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** The call statx(2), whose result is alike on all processors, other than that of fstat(2). */
final class Statx {
    /** AT_EMPTY_PATH: the descriptor is the file itself. */
    private static final int OF_DESCRIPTOR = 0x1000;

    private static final byte[] EMPTY_PATH = {0};
    /** STATX_BLOCKS: asks for the number of allocated units, and says in the result that it is there. */
    private static final int BLOCKS = 0x400;
    /** STATX_MTIME, STATX_CTIME, STATX_SIZE, STATX_BLOCKS. */
    private static final int WANTED = 0x40 | 0x80 | 0x200 | BLOCKS;

    private static final int RESULT_BYTES = 256;
    private static final int MASK_AT = 0;
    private static final int SIZE_AT = 40;
    private static final int BLOCKS_AT = 48;
    private static final int CHANGED_AT = 96;
    private static final int MODIFIED_AT = 112;
    private static final int UNIT_BYTES = 512;
    private static final long NS_PER_S = 1_000_000_000;

    private Statx() {}

    /** Returns the status of an open file; null on failure. */
    static RandomFile.@Nullable Status of(Libc.Functions libc, int descriptor) {
        return of(libc, descriptor, EMPTY_PATH);
    }

    /** Returns the status of a file below a folder; null on failure. */
    static RandomFile.@Nullable Status of(Libc.Functions libc, int folder, byte[] path) {
        ByteBuffer result = ask(libc, folder, path, WANTED);
        return result == null
                ? null
                : new RandomFile.Status(
                        result.getLong(SIZE_AT),
                        result.getLong(BLOCKS_AT) * UNIT_BYTES,
                        time(result, MODIFIED_AT),
                        time(result, CHANGED_AT));
    }

    /** Returns the bytes that an open file takes on its disk; -1 if the system cannot tell. */
    static long allocatedBytes(Libc.Functions libc, int descriptor) {
        try {
            ByteBuffer result = ask(libc, descriptor, EMPTY_PATH, BLOCKS);
            return result == null || (result.getInt(MASK_AT) & BLOCKS) == 0
                    ? -1
                    : result.getLong(BLOCKS_AT) * UNIT_BYTES;
        } catch (UnsatisfiedLinkError older) {
            return -1; // The C library is older than 2018.
        }
    }

    private static @Nullable ByteBuffer ask(Libc.Functions libc, int folder, byte[] path, int wanted) {
        ByteBuffer result = ByteBuffer.allocate(RESULT_BYTES).order(ByteOrder.nativeOrder());
        int flags = path.length == EMPTY_PATH.length ? OF_DESCRIPTOR : 0;
        return libc.statx(folder, path, flags, wanted, result.array()) == 0 ? result : null;
    }

    private static long time(ByteBuffer result, int at) {
        return result.getLong(at) * NS_PER_S + result.getInt(at + Long.BYTES);
    }
}
