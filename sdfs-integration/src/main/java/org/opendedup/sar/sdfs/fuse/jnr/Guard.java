package org.opendedup.sar.sdfs.fuse.jnr;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import jnr.ffi.Pointer;
import org.opendedup.sar.sdfs.fuse.Errno;

/** Runs the work of callbacks. No exception may reach native code, so every failure becomes an error number. */
final class Guard {
    private Guard() {}

    /** The work of a callback. */
    @FunctionalInterface
    interface Work {
        /** @return 0, a count, or the negative error number of an expected error */
        int run() throws IOException;
    }

    /** Runs the work on a path. A failure becomes a negative error number. */
    static int run(String operation, Pointer path, Work work) {
        return run(operation, () -> new String(CString.bytes(path), StandardCharsets.UTF_8), work);
    }

    /** @param what name of the object, for the log if the work fails */
    static int run(String operation, Supplier<String> what, Work work) {
        try {
            return work.run();
        } catch (Throwable e) {
            return -Errno.of(e, operation + " " + what.get());
        }
    }
}
