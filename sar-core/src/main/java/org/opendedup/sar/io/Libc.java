package org.opendedup.sar.io;

import java.nio.charset.Charset;
import java.nio.file.Path;
import java.util.Arrays;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import jnr.ffi.annotations.In;
import jnr.ffi.annotations.Out;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The calls of the C library that Java does not offer. Loaded when the first is needed, and once: that takes longer than many calls. */
final class Libc {
    static final int O_RDONLY = 0;
    static final int O_WRONLY = 1;
    static final int O_RDWR = 2;
    static final int O_CREAT = 0100;

    private static final int O_CLOEXEC = 02000000;
    private static final int OWNER_ALONE = 0600;
    private static final Logger log = LoggerFactory.getLogger(Libc.class);
    private static final @Nullable Functions FUNCTIONS = load();

    private Libc() {}

    /** As the manual pages say. */
    public interface Functions {
        int open(@In byte[] path, int flags, int mode);

        int close(int descriptor);

        int fcntl(int descriptor, int command, @In @Out byte[] lock);

        int ioctl(int descriptor, long request, @In @Out Pointer argument);

        int fallocate(int descriptor, int mode, long offset, long length);

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

    /** Null where the library can't be called. */
    static @Nullable Functions functions() {
        return FUNCTIONS;
    }

    /** Of the call that this thread has just made. */
    static int errno() {
        return Runtime.getSystemRuntime().getLastError();
    }

    /** A descriptor that programs started from here do not get, or a negative number; a file that is made is its owner's alone. */
    static int open(Functions libc, Path file, int flags) {
        byte[] path = file.toString().getBytes(Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8")));
        return libc.open(Arrays.copyOf(path, path.length + 1), flags | O_CLOEXEC, OWNER_ALONE);
    }
}
