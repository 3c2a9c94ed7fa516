package org.opendedup.sar.sdfs.fuse.kernel;

import org.opendedup.sar.sdfs.fuse.KernelRequests;

/**
 * The result of INIT: what the kernel and this service agreed on.
 *
 * @param minor minor version of the protocol
 * @param flags accepted features ({@link Protocol.InitFlag})
 * @param requests kinds of requests that are served; the kernel learns of the others by ENOSYS
 */
record Agreement(int minor, int flags, KernelRequests requests) {
    /**
     * First minor version, of Linux 5.10, whose kernels write back a file at close(2) and report its failed writes also
     * if FLUSH is not served. Linux 5.8 began so, with the version of Linux 5.4.
     */
    private static final int WRITES_BACK_WITHOUT_FLUSH = 32;

    /** Returns whether FLUSH is served. */
    boolean servesFlush() {
        return requests.flushes() || minor < WRITES_BACK_WITHOUT_FLUSH;
    }

    /** Returns true if all of these features were accepted. */
    boolean has(int abilities) {
        return (flags & abilities) == abilities;
    }
}
