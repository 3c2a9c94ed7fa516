package org.opendedup.sar.sdfs.fuse.kernel;

/**
 * What the kernel and this service agreed on in INIT.
 *
 * @param minor minor version of the protocol
 * @param flags abilities taken ({@link Protocol.InitFlag})
 */
record Agreement(int minor, int flags) {
    /** True if all of these abilities were taken. */
    boolean has(int abilities) {
        return (flags & abilities) == abilities;
    }
}
