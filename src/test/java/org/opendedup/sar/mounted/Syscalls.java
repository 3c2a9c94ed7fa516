package org.opendedup.sar.mounted;

import java.io.Closeable;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.file.Path;
import jnr.ffi.LastError;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import jnr.ffi.annotations.In;
import jnr.ffi.annotations.SaveError;
import jnr.ffi.types.size_t;
import jnr.ffi.types.ssize_t;
import jnr.ffi.types.u_int64_t;

/** System calls on an open file that Java does not provide. */
final class Syscalls implements Closeable {
    static final int KEEP_SIZE = 1;
    static final int PUNCH_HOLE = 2;
    static final int COLLAPSE_RANGE = 8;
    static final int ZERO_RANGE = 16;
    static final int ENXIO = 6;
    static final int EOPNOTSUPP = 95;

    private static final int O_RDWR = 2;
    private static final int O_CREAT = 0100;
    private static final int SEEK_DATA = 3;
    private static final int SEEK_HOLE = 4;
    private static final Functions LIBC = LibraryLoader.create(Functions.class).load("c");
    private static final Runtime RUNTIME = Runtime.getRuntime(LIBC);

    private final int fd;

    /** The functions of libc. */
    public interface Functions {
        @SaveError
        int open(@In String path, int flags, int mode);

        int close(int fd);

        @SaveError
        int fallocate(int fd, int mode, @u_int64_t long offset, @u_int64_t long length);

        @SaveError
        @u_int64_t
        long lseek(int fd, @u_int64_t long offset, int whence);

        @SaveError
        @ssize_t
        long pwrite(int fd, @In byte[] bytes, @size_t long length, @u_int64_t long offset);

        @SaveError
        @ssize_t
        long copy_file_range(int from, Pointer fromOffset, int to, Pointer toOffset, @size_t long length, int flags);
    }

    private Syscalls(int fd) {
        this.fd = fd;
    }

    static Syscalls open(Path file) throws IOException {
        int fd = LIBC.open(file.toString(), O_RDWR | O_CREAT, 0644);
        if (fd < 0) {
            throw new IOException("open " + file + ": error " + errno());
        }
        return new Syscalls(fd);
    }

    private static int errno() {
        return LastError.getLastError(RUNTIME);
    }

    /** Returns the result, or the negative error number. */
    private static long result(long value) {
        return value < 0 ? -errno() : value;
    }

    long allocate(int mode, long offset, long length) {
        return result(LIBC.fallocate(fd, mode, offset, length));
    }

    long seekData(long offset) {
        return result(LIBC.lseek(fd, offset, SEEK_DATA));
    }

    long seekHole(long offset) {
        return result(LIBC.lseek(fd, offset, SEEK_HOLE));
    }

    long write(long offset, byte[] bytes) {
        return result(LIBC.pwrite(fd, bytes, bytes.length, offset));
    }

    /** One call of copy_file_range. */
    long copy(long from, Syscalls target, long to, long length) {
        Pointer offsets = jnr.ffi.Memory.allocateDirect(RUNTIME, 16);
        offsets.putLong(0, from);
        offsets.putLong(8, to);
        long copied = result(LIBC.copy_file_range(fd, offsets, target.fd, offsets.slice(8), length, 0));
        Reference.reachabilityFence(offsets);
        return copied;
    }

    @Override
    public void close() {
        LIBC.close(fd);
    }
}
