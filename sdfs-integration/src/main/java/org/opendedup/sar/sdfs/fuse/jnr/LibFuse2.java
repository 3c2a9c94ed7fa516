package org.opendedup.sar.sdfs.fuse.jnr;

import java.io.IOException;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import jnr.ffi.annotations.In;
import jnr.ffi.types.size_t;
import jnr.ffi.types.uintptr_t;
import org.jspecify.annotations.Nullable;
import ru.serce.jnrfuse.LibFuse;

/**
 * The functions of libfuse 2. Binds the functions that jnr-fuse's {@code fuse_main_real} consists of ({@code fuse.h},
 * {@code fuse_lowlevel.h} of 2.9). With them, this program's own threads serve the requests: they are limited in number
 * and known to the JVM (jffi attaches a foreign thread again for each callback), and there is no second shutdown hook
 * beside the daemon's own.
 */
final class LibFuse2 {
    private static final String LIBRARY = "libfuse.so.2";

    private final Functions functions;

    private LibFuse2(Functions functions) {
        this.functions = functions;
    }

    /** @throws IOException if libfuse 2 is not installed; the message names the package */
    static LibFuse2 load() throws IOException {
        return load(LIBRARY);
    }

    static LibFuse2 load(String library) throws IOException {
        try {
            return new LibFuse2(
                    LibraryLoader.create(Functions.class).failImmediately().load(library));
        } catch (UnsatisfiedLinkError e) {
            throw new IOException(
                    "libfuse 2 (" + library + ") cannot be loaded; install the package libfuse2: " + e.getMessage(), e);
        }
    }

    Functions functions() {
        return functions;
    }

    Runtime runtime() {
        return Runtime.getRuntime(functions);
    }

    /**
     * The functions as in the headers. {@code fuse_new} is missing: dlsym finds the oldest of its versions, which is
     * for libfuse 1.
     */
    public interface Functions extends LibFuse {
        /**
         * Mounts the file system. Also sets handlers for those signals for which the process has none; a JVM has its
         * own.
         *
         * @param mountPoint receives the address of the mount point's name, for {@link #fuse_teardown}
         * @return handle of the mount, or null if it failed
         */
        @Nullable
        Pointer fuse_setup(
                int argumentCount,
                @In String[] arguments,
                Pointer operations,
                @size_t long operationsBytes,
                Pointer mountPoint,
                Pointer multithreaded,
                @Nullable Pointer userData);

        /** Unmounts the file system if it is still mounted, and frees all memory of the mount. */
        void fuse_teardown(Pointer fuse, Pointer mountPoint);

        Pointer fuse_get_session(Pointer fuse);

        /** @param before null for the first, and only, channel */
        Pointer fuse_session_next_chan(Pointer session, @Nullable Pointer before);

        @size_t
        long fuse_chan_bufsize(Pointer channel);

        int fuse_chan_recv(Pointer channelInOut, @uintptr_t long buffer, @size_t long bytes);

        void fuse_session_process(Pointer session, @uintptr_t long buffer, @size_t long bytes, Pointer channel);
    }
}
