package org.opendedup.sar.sdfs.fuse.jnr;

import java.io.IOException;
import org.opendedup.sar.sdfs.fuse.Errno;

/** The border to native code: nothing is thrown over it. */
final class Guard {
    private Guard() {}

    /** A callback's work. */
    @FunctionalInterface
    interface Work {
        /** @return 0, a count, or a negative error number that is no accident */
        int run() throws IOException;
    }

    /** Does the work; what fails becomes a negative error number. */
    static int run(String operation, Work work) {
        try {
            return work.run();
        } catch (Throwable e) {
            return -Errno.of(e, "FUSE " + operation);
        }
    }
}
