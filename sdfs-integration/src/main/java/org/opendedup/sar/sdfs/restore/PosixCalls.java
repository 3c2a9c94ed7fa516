package org.opendedup.sar.sdfs.restore;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import jnr.ffi.annotations.In;
import jnr.ffi.types.size_t;
import jnr.ffi.types.ssize_t;
import jnr.ffi.types.uintptr_t;
import org.opendedup.sar.common.NoSpaceException;

/**
 * The calls of the C library that a restore makes where the JDK has none: names that are no text, device nodes, access lists, times
 * of symbolic links, owners by number. Paths are bytes ended by a zero.
 */
final class PosixCalls {
    static final int O_RDONLY = 0;
    static final int O_WRONLY = 1;
    static final int O_CREAT = 0100;
    static final int O_EXCL = 0200;
    static final int O_DIRECTORY = 0200000;
    static final int O_NOFOLLOW = 0400000;
    static final int O_CLOEXEC = 02000000;
    static final int AT_FDCWD = -100;
    static final int AT_SYMLINK_NOFOLLOW = 0x100;
    static final int SEEK_END = 2;

    static final int F_OK = 0;

    static final int EPERM = 1;
    static final int EACCES = 13;
    static final int EEXIST = 17;
    static final int EINVAL = 22;
    static final int ENOSPC = 28;
    static final int EOPNOTSUPP = 95;
    static final int EDQUOT = 122;

    private final Functions functions;
    private final Runtime runtime;

    PosixCalls() {
        this(LibraryLoader.create(Functions.class).load("c"));
    }

    /** @param functions the C library's, or such as call them */
    PosixCalls(Functions functions) {
        this.functions = functions;
        runtime = Runtime.getSystemRuntime();
    }

    Functions functions() {
        return functions;
    }

    /** Why the last call of this thread failed. */
    int errno() {
        return runtime.getLastError();
    }

    /** The address of a direct buffer's byte at its position. */
    long address(ByteBuffer direct) {
        return Pointer.wrap(runtime, direct).address();
    }

    /** An exception that says what failed, on what, and the reason the C library gave. */
    IOException failure(String what, byte[] path) {
        int errno = errno();
        String message = what + " " + text(path) + ": " + functions.strerror(errno);
        return errno == ENOSPC || errno == EDQUOT ? new NoSpaceException(message) : new IOException(message);
    }

    /** A path for a message. */
    static String text(byte[] path) {
        int end = path.length > 0 && path[path.length - 1] == 0 ? path.length - 1 : path.length;
        return new String(path, 0, end, StandardCharsets.UTF_8);
    }

    /** With the zero at its end. */
    static byte[] terminated(byte[] name) {
        return Arrays.copyOf(name, name.length + 1);
    }

    /** As the manual pages say. */
    public interface Functions {
        int open(@In byte[] path, int flags, int mode);

        int close(int fd);

        @ssize_t
        long pwrite(int fd, @uintptr_t long buffer, @size_t long bytes, long offset);

        int ftruncate(int fd, long length);

        long lseek(int fd, long offset, int whence);

        int syncfs(int fd);

        int mkdir(@In byte[] path, int mode);

        int symlink(@In byte[] target, @In byte[] path);

        int link(@In byte[] target, @In byte[] path);

        int mknod(@In byte[] path, int mode, long device);

        int lchown(@In byte[] path, int uid, int gid);

        int chmod(@In byte[] path, int mode);

        int lsetxattr(@In byte[] path, @In byte[] name, @In byte[] value, @size_t long bytes, int flags);

        int utimensat(int directory, @In byte[] path, @In long[] times, int flags);

        int faccessat(int directory, @In byte[] path, int mode, int flags);

        int geteuid();

        String strerror(int errno);
    }
}
