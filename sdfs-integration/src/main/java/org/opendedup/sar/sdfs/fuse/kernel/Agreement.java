package org.opendedup.sar.sdfs.fuse.kernel;

import org.opendedup.sar.sdfs.fuse.KernelRequests;
import org.opendedup.sar.sdfs.fuse.Passthrough;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.InitFlag;

/**
 * The result of INIT: what the kernel and this service agreed on.
 *
 * @param minor minor version of the protocol
 * @param flags accepted features ({@link Protocol.InitFlag})
 * @param requests kinds of requests that are served; the kernel learns of the others by ENOSYS
 * @param passthrough whether the kernel reads and writes backing files itself
 */
record Agreement(int minor, int flags, KernelRequests requests, Passthrough passthrough) {
    /**
     * First minor version, of Linux 5.10, whose kernels write back a file at close(2) and report its failed writes also
     * if FLUSH is not served. Linux 5.8 began so, with the version of Linux 5.4.
     */
    private static final int WRITES_BACK_WITHOUT_FLUSH = 32;

    /** Returns whether FLUSH is served. */
    boolean servesFlush() {
        return requests.flushes() || minor < WRITES_BACK_WITHOUT_FLUSH;
    }

    /**
     * Returns true if the kernel keeps written bytes in its cache and sets the times of the file itself. If not, it
     * still keeps bytes that programs write into mapped memory, but then leaves the times to this service.
     */
    boolean keepsWrites() {
        return has(InitFlag.WRITEBACK_CACHE);
    }

    /** Returns true if all of these features were accepted. */
    boolean has(int abilities) {
        return (flags & abilities) == abilities;
    }
}
