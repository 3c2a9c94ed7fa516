package org.opendedup.sar.io;

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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Functions of the C library that Java does not offer. The library is loaded once, when the first function is needed:
 * loading takes longer than many calls.
 */
final class Libc {
    static final int O_RDONLY = 0;
    static final int O_WRONLY = 1;
    static final int O_RDWR = 2;
    static final int O_CREAT = 0100;
    static final int O_EXCL = 0200;

    private static final int O_CLOEXEC = 02000000;
    private static final int OWNER_ALONE = 0600;
    private static final Logger log = LoggerFactory.getLogger(Libc.class);
    private static final @Nullable Functions FUNCTIONS = load();

    private Libc() {}

    /** The functions, as their manual pages specify them. */
    public interface Functions {
        int open(@In byte[] path, int flags, int mode);

        int openat(int folder, @In byte[] path, int flags, int mode);

        int unlinkat(int folder, @In byte[] path, int flags);

        int close(int descriptor);

        int fcntl(int descriptor, int command, @In @Out byte[] lock);

        int fcntl(int descriptor, int command, long argument);

        int ioctl(int descriptor, long request, @In @Out Pointer argument);

        int fallocate(int descriptor, int mode, long offset, long length);

        int posix_fadvise(int descriptor, long offset, long length, int advice);

        int ftruncate(int descriptor, long length);

        int fdatasync(int descriptor);

        int statx(int folder, @In byte[] path, int flags, int mask, @Out byte[] result);

        int sync_file_range(int descriptor, long offset, long length, int flags);

        int syncfs(int descriptor);

        @ssize_t
        long pread(int descriptor, @Out ByteBuffer target, @size_t long count, long offset);

        @ssize_t
        long pwrite(int descriptor, @In ByteBuffer source, @size_t long count, long offset);

        long lseek(int descriptor, long offset, int whence);

        int futimens(int descriptor, @In byte @Nullable [] times);

        int memfd_create(@In byte[] name, int flags);

        int socket(int domain, int type, int protocol);

        @ssize_t
        long sendto(
                int descriptor, @In byte[] bytes, @size_t long count, int flags, @In byte[] address, int addressBytes);

        String strerror(int errno);
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
    static @Nullable Functions functions() {
        return FUNCTIONS;
    }

    /** Returns the error number of the last call of this thread. */
    static int errno() {
        return Runtime.getSystemRuntime().getLastError();
    }

    /**
     * Opens a file and returns its descriptor, or a negative number on failure. Child processes do not inherit the
     * descriptor. Only its owner may access a file that this call creates.
     */
    static int open(Functions libc, Path file, int flags) {
        return libc.open(path(file), flags | O_CLOEXEC, OWNER_ALONE);
    }

    /** Does what {@link #open} does with a path below a folder, of which the caller has a descriptor. */
    static int openAt(Functions libc, int folder, Path file, int flags) {
        return libc.openat(folder, path(file), flags | O_CLOEXEC, OWNER_ALONE);
    }

    /** Returns the bytes of a path, with the zero that ends them. */
    static byte[] path(Path file) {
        byte[] path = file.toString().getBytes(Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8")));
        return Arrays.copyOf(path, path.length + 1);
    }
}
