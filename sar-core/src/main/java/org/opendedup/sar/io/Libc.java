package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.util.Arrays;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import jnr.ffi.annotations.In;
import jnr.ffi.annotations.Out;
import jnr.ffi.types.size_t;
import jnr.ffi.types.ssize_t;
import jnr.ffi.types.u_int64_t;
import jnr.ffi.types.uintptr_t;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.common.NoSpaceException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The functions of the C library that Java does not offer. The library is loaded once, when the first function is
 * needed: loading takes longer than many calls.
 */
public final class Libc {
    public static final int O_RDONLY = 0;
    public static final int O_WRONLY = 1;
    public static final int O_RDWR = 2;
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

    /** The flags are the same on all architectures, except these two: ARM and PowerPC have their own values. */
    public static final int O_DIRECTORY;

    public static final int O_NOFOLLOW;

    static {
        String machine = System.getProperty("os.arch", "");
        boolean hasOwnNumbers = machine.startsWith("aarch64") || machine.startsWith("arm") || machine.startsWith("ppc");
        O_DIRECTORY = hasOwnNumbers ? 040000 : 0200000;
        O_NOFOLLOW = hasOwnNumbers ? 0100000 : 0400000;
    }

    private static final int OWNER_ALONE = 0600;
    private static final int OTHERS = 077;
    private static final Logger log = LoggerFactory.getLogger(Libc.class);
    private static final @Nullable Functions LOADED = load();

    private final Functions functions;

    /** @throws IllegalStateException if the library cannot be called */
    public Libc() {
        if (LOADED == null) {
            throw new IllegalStateException("the C library can't be called");
        }
        functions = LOADED;
    }

    /** @param functions the C library's functions, or wrappers of them */
    public Libc(Functions functions) {
        this.functions = functions;
    }

    private static @Nullable Functions load() {
        try {
            return LibraryLoader.create(Functions.class).failImmediately().load("c");
        } catch (RuntimeException | LinkageError e) {
            log.debug("the C library can't be called", e);
            return null;
        }
    }

    /** Returns the functions; null where the library cannot be called. */
    static @Nullable Functions loaded() {
        return LOADED;
    }

    public Functions functions() {
        return functions;
    }

    /** Returns the error number of the last call of this thread. */
    public static int errno() {
        return Runtime.getSystemRuntime().getLastError();
    }

    /** Sets the error number of the last call of this thread. */
    public static void setErrno(int errno) {
        Runtime.getSystemRuntime().setLastError(errno);
    }

    /** Returns whether the last call looked for a name, and failed because there is none, or none can be there. */
    public static boolean isAbsence() {
        return switch (errno()) {
            case Errno.ENOENT, Errno.ENAMETOOLONG, Errno.EILSEQ, Errno.EINVAL -> true;
            default -> false;
        };
    }

    /**
     * Removes all permissions of other users from what this process, including its libraries, makes from now on. The
     * modes of files in a volume do not depend on this, because the kernel sends them with its requests. The modes of
     * restored files do not either: a restore sets them after it has made the files.
     */
    public static void makeForOwnerOnly() {
        new Libc().functions.umask(OTHERS);
    }

    /** As {@link #open(Functions, Path, int)}. */
    public int open(Path file, int flags) {
        return open(functions, file, flags);
    }

    /**
     * Opens a file and returns its descriptor, or a negative number on failure. Child processes do not inherit the
     * descriptor. Only its owner may access a file that this call creates.
     */
    static int open(Functions libc, Path file, int flags) {
        return openAt(libc, AT_FDCWD, file, flags);
    }

    /** Does what {@link #open} does with a path below a folder, of which the caller has a descriptor. */
    static int openAt(Functions libc, int folder, Path file, int flags) {
        return libc.openat(folder, path(file), flags | O_CLOEXEC, OWNER_ALONE);
    }

    /** Returns the bytes of a path, with the zero that ends them. */
    static byte[] path(Path file) {
        return terminated(file.toString().getBytes(Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"))));
    }

    /** Returns the name with a zero at its end. */
    public static byte[] terminated(byte[] name) {
        return Arrays.copyOf(name, name.length + 1);
    }

    /**
     * Returns the address of a direct buffer's byte at its position. The caller sees to it that the buffer stays
     * reachable while the address is used: a local variable that is not used any more does not keep it.
     */
    public static long address(ByteBuffer direct) {
        return Pointer.wrap(Runtime.getSystemRuntime(), direct).address();
    }

    /** Makes an exception with the failed operation, the path, and the reason from the C library. */
    public IOException failure(String what, String path) {
        int errno = errno();
        String message = what + " " + path + ": " + reason(errno);
        return errno == Errno.ENOSPC || errno == Errno.EDQUOT
                ? new NoSpaceException(message)
                : new IOException(message);
    }

    /** Makes an exception with the failed operation, the reason from the C library, and its number. */
    public IOException failure(String what) {
        int errno = errno();
        return new IOException(what + ": " + reason(errno) + " (error " + errno + ")");
    }

    public String reason(int errno) {
        return functions.strerror(errno);
    }

    /**
     * The functions, as their manual pages specify them. {@code folder} is an open folder, to which a path is relative.
     * Paths and names are bytes ended by a zero. Functions on hot paths take raw addresses, so that a call allocates no
     * object.
     */
    public interface Functions {
        int openat(int folder, @In byte[] path, int flags, int mode);

        int close(int descriptor);

        @ssize_t
        long read(int descriptor, @uintptr_t long buffer, @size_t long count);

        @ssize_t
        long write(int descriptor, @uintptr_t long buffer, @size_t long count);

        @ssize_t
        long pread(int descriptor, @Out ByteBuffer target, @size_t long count, long offset);

        @ssize_t
        long pwrite(int descriptor, @In ByteBuffer source, @size_t long count, long offset);

        long lseek(int descriptor, long offset, int whence);

        int fcntl(int descriptor, int command, @In @Out byte[] lock);

        int fcntl(int descriptor, int command, long argument);

        int ioctl(int descriptor, @size_t long request, @uintptr_t long argument);

        /** For openat2, which has no function of its own in present C libraries. */
        @ssize_t
        long syscall(
                @ssize_t long number, @ssize_t long folder, @In byte[] path, @In byte[] how, @size_t long howBytes);

        int poll(@In @Out byte[] descriptors, @size_t long count, int timeoutMs);

        int fallocate(int descriptor, int mode, long offset, long length);

        int posix_fadvise(int descriptor, long offset, long length, int advice);

        int ftruncate(int descriptor, long length);

        int fdatasync(int descriptor);

        int sync_file_range(int descriptor, long offset, long length, int flags);

        int syncfs(int descriptor);

        void sync();

        int statx(int folder, @In byte[] path, int flags, int mask, @Out byte[] result);

        int futimens(int descriptor, @In long @Nullable [] times);

        int utimensat(int folder, @In byte[] path, @In long[] times, int flags);

        int fchown(int descriptor, int uid, int gid);

        int fchownat(int folder, @In byte[] path, int uid, int gid, int flags);

        int fchmod(int descriptor, int mode);

        int chmod(@In byte[] path, int mode);

        int umask(int mask);

        int fsetxattr(int descriptor, @In byte[] name, @In byte[] value, @size_t long bytes, int flags);

        int setxattr(@In byte[] path, @In byte[] name, @In byte[] value, @size_t long bytes, int flags);

        int fremovexattr(int descriptor, @In byte[] name);

        @ssize_t
        long readlinkat(int folder, @In byte[] path, @Out byte[] target, @size_t long bytes);

        int mkdirat(int folder, @In byte[] path, int mode);

        int mknodat(int folder, @In byte[] path, int mode, long device);

        int symlinkat(@In byte[] target, int folder, @In byte[] path);

        int linkat(int fromFolder, @In byte[] from, int folder, @In byte[] path, int flags);

        int renameat2(int fromFolder, @In byte[] from, int folder, @In byte[] path, int flags);

        int unlinkat(int folder, @In byte[] path, int flags);

        int memfd_create(@In byte[] name, int flags);

        int socket(int domain, int type, int protocol);

        int socketpair(int domain, int type, int protocol, @Out int[] descriptors);

        @ssize_t
        long sendto(
                int descriptor, @In byte[] bytes, @size_t long count, int flags, @In byte[] address, int addressBytes);

        @ssize_t
        long recvmsg(int descriptor, Pointer message, int flags);

        int mount(@In String source, @In String target, @In String type, @u_int64_t long flags, @In String data);

        int umount2(@In String target, int flags);

        int geteuid();

        int getegid();

        int gettid();

        int posix_spawnp(
                @Out int[] pid,
                @In String file,
                Pointer fileActions,
                @Nullable Pointer attributes,
                Pointer arguments,
                Pointer environment);

        int posix_spawn_file_actions_init(Pointer fileActions);

        int posix_spawn_file_actions_adddup2(Pointer fileActions, int descriptor, int newDescriptor);

        int posix_spawn_file_actions_destroy(Pointer fileActions);

        int waitpid(int pid, @Out int[] status, int options);

        String strerror(int errno);
    }
}
