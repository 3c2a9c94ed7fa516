package org.opendedup.sar.sdfs.fuse.jnr;

import jnr.ffi.Pointer;

/**
 * Accesses {@code struct fuse_file_info} of libfuse 2.9 on 64-bit Linux: flags, 4 bytes of padding, {@code fh_old},
 * {@code writepage}, a word of bits, {@code fh}, {@code lock_owner}. jnr-fuse has no names for the bits.
 */
final class FileInfo {
    private static final int FLAGS = 0;
    private static final int BITS = 20;
    private static final int HANDLE = 24;

    private static final int DIRECT_IO = 1;
    private static final int KEEP_CACHE = 1 << 1;

    /** {@code asm-generic/fcntl.h}. */
    private static final int O_ACCESS_MODE = 3;

    private static final int O_WRONLY = 1;
    private static final int O_TRUNC = 01000;
    private static final int O_APPEND = 02000;
    private static final int O_NOATIME = 01000000;

    private FileInfo() {}

    static boolean isWritable(Pointer info) {
        return (info.getInt(FLAGS) & O_ACCESS_MODE) != 0;
    }

    /**
     * Returns whether reads through this handle set the access time. Reads of a file that is open for writing only are
     * made by the kernel itself.
     */
    static boolean notesReads(Pointer info) {
        int flags = info.getInt(FLAGS);
        return (flags & O_ACCESS_MODE) != O_WRONLY && (flags & O_NOATIME) == 0;
    }

    static boolean truncates(Pointer info) {
        return (info.getInt(FLAGS) & O_TRUNC) != 0;
    }

    static boolean appends(Pointer info) {
        return (info.getInt(FLAGS) & O_APPEND) != 0;
    }

    static long handle(Pointer info) {
        return info.getLong(HANDLE);
    }

    static void setHandle(Pointer info, long handle) {
        info.putLong(HANDLE, handle);
    }

    /** Makes the kernel pass on reads and writes without its page cache. */
    static void setDirect(Pointer info) {
        info.putInt(BITS, info.getInt(BITS) | DIRECT_IO);
    }

    /** Allows the kernel to use its pages from an earlier opening. */
    static void setKeepCache(Pointer info) {
        info.putInt(BITS, info.getInt(BITS) | KEEP_CACHE);
    }
}
