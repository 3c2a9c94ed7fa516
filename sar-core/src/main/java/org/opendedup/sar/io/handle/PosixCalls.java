package org.opendedup.sar.io.handle;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import jnr.ffi.annotations.In;
import jnr.ffi.annotations.Out;
import jnr.ffi.types.size_t;
import jnr.ffi.types.ssize_t;
import jnr.ffi.types.uintptr_t;
import org.opendedup.sar.common.NoSpaceException;

/**
 * The calls of the C library that the JDK does not have: names below an open folder, names that are not text, device
 * nodes, access lists, times of symbolic links, owners by number. Names are bytes ended by a zero.
 */
public final class PosixCalls {
    public static final int O_RDONLY = 0;
    public static final int O_WRONLY = 1;
    public static final int O_CREAT = 0100;
    public static final int O_EXCL = 0200;
    public static final int O_NONBLOCK = 04000;
    public static final int O_CLOEXEC = 02000000;
    public static final int O_PATH = 010000000;
    public static final int AT_FDCWD = -100;
    public static final int AT_SYMLINK_NOFOLLOW = 0x100;
    public static final int AT_REMOVEDIR = 0x200;
    public static final int AT_SYMLINK_FOLLOW = 0x400;
    public static final int AT_EMPTY_PATH = 0x1000;
    public static final int RENAME_NOREPLACE = 1;

    public static final int EPERM = 1;
    public static final int ENOENT = 2;
    public static final int E2BIG = 7;
    public static final int EACCES = 13;
    public static final int EEXIST = 17;
    public static final int EXDEV = 18;
    public static final int ENOTDIR = 20;
    public static final int EINVAL = 22;
    public static final int EFBIG = 27;
    public static final int ENOSPC = 28;
    public static final int EMLINK = 31;
    public static final int ERANGE = 34;
    public static final int ENAMETOOLONG = 36;
    public static final int ENOSYS = 38;
    public static final int ELOOP = 40;
    public static final int EOVERFLOW = 75;
    public static final int EILSEQ = 84;
    public static final int EOPNOTSUPP = 95;
    public static final int EDQUOT = 122;

    /** The flags are the same on all architectures, except these two: ARM and PowerPC have their own values. */
    public static final int O_DIRECTORY;

    public static final int O_NOFOLLOW;

    static {
        String machine = System.getProperty("os.arch", "");
        boolean hasOwnNumbers = machine.startsWith("aarch64") || machine.startsWith("arm") || machine.startsWith("ppc");
        O_DIRECTORY = hasOwnNumbers ? 040000 : 0200000;
        O_NOFOLLOW = hasOwnNumbers ? 0100000 : 0400000;
    }

    private final Functions functions;
    private final Runtime runtime;

    public PosixCalls() {
        this(LibraryLoader.create(Functions.class).load("c"));
    }

    /** @param functions the C library's functions, or wrappers of them */
    public PosixCalls(Functions functions) {
        this.functions = functions;
        runtime = Runtime.getSystemRuntime();
    }

    public Functions functions() {
        return functions;
    }

    /** Returns the error of the last call of this thread. */
    public int errno() {
        return runtime.getLastError();
    }

    /** Returns whether the last call looked for a name, and failed because there is none, or none can be there. */
    public boolean isAbsence() {
        return switch (errno()) {
            case ENOENT, ENAMETOOLONG, EILSEQ, EINVAL -> true;
            default -> false;
        };
    }

    /** Sets the error of the last call of this thread. */
    public void setErrno(int errno) {
        runtime.setLastError(errno);
    }

    /** Returns the address of a direct buffer's byte at its position. */
    public long address(ByteBuffer direct) {
        return Pointer.wrap(runtime, direct).address();
    }

    /** Makes an exception with the failed operation, the path, and the reason from the C library. */
    public IOException failure(String what, String path) {
        int errno = errno();
        String message = what + " " + path + ": " + reason(errno);
        return errno == ENOSPC || errno == EDQUOT ? new NoSpaceException(message) : new IOException(message);
    }

    public String reason(int errno) {
        return functions.strerror(errno);
    }

    /** Returns the name with a zero at its end. */
    public static byte[] terminated(byte[] name) {
        return Arrays.copyOf(name, name.length + 1);
    }

    /**
     * The C functions, as described in their manual pages. {@code directory} is an open folder, to which {@code name}
     * is relative.
     */
    public interface Functions {
        int openat(int directory, @In byte[] name, int flags, int mode);

        /** For openat2, which has no function of its own in present C libraries. */
        @ssize_t
        long syscall(
                @ssize_t long number, @ssize_t long directory, @In byte[] name, @In byte[] how, @size_t long howBytes);

        int close(int fd);

        @ssize_t
        long pwrite(int fd, @uintptr_t long buffer, @size_t long bytes, long offset);

        int ftruncate(int fd, long length);

        int syncfs(int fd);

        int statx(int directory, @In byte[] name, int flags, int mask, @Out byte[] status);

        @ssize_t
        long readlinkat(int directory, @In byte[] name, @Out byte[] target, @size_t long bytes);

        int mkdirat(int directory, @In byte[] name, int mode);

        int symlinkat(@In byte[] target, int directory, @In byte[] name);

        int linkat(int fromDirectory, @In byte[] from, int directory, @In byte[] name, int flags);

        int renameat2(int fromDirectory, @In byte[] from, int directory, @In byte[] name, int flags);

        int mknodat(int directory, @In byte[] name, int mode, long device);

        int unlinkat(int directory, @In byte[] name, int flags);

        int fchown(int fd, int uid, int gid);

        int fchownat(int directory, @In byte[] name, int uid, int gid, int flags);

        int fchmod(int fd, int mode);

        int chmod(@In byte[] path, int mode);

        int fsetxattr(int fd, @In byte[] name, @In byte[] value, @size_t long bytes, int flags);

        int setxattr(@In byte[] path, @In byte[] name, @In byte[] value, @size_t long bytes, int flags);

        int fremovexattr(int fd, @In byte[] name);

        int futimens(int fd, @In long[] times);

        int utimensat(int directory, @In byte[] path, @In long[] times, int flags);

        int geteuid();

        String strerror(int errno);
    }
}
