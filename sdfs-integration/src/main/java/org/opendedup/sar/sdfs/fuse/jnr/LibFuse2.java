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
 * libfuse 2. Beyond jnr-fuse's {@code fuse_main_real}: the functions that it is made of ({@code fuse.h}, {@code
 * fuse_lowlevel.h} of 2.9). So the requests are served by threads of ours: bounded in number, known to the JVM (jffi
 * attaches a foreign thread anew for each callback), and without a shutdown hook beside the daemon's own.
 */
final class LibFuse2 {
    private static final String LIBRARY = "libfuse.so.2";

    private final Functions functions;

    private LibFuse2(Functions functions) {
        this.functions = functions;
    }

    /** @throws IOException if it is not installed; the message names the package */
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
     * As the headers say. {@code fuse_new} is not among them: of its versions, dlsym finds the oldest, which is for libfuse 1.
     */
    public interface Functions extends LibFuse {
        /**
         * Mounts. It also sets handlers for the signals for which the process has none; a JVM has its own.
         *
         * @param mountPoint where the mount point's name is put, for {@link #fuse_teardown}
         * @return null if it failed
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

        /** Unmounts, unless that has been done, and frees everything. */
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
