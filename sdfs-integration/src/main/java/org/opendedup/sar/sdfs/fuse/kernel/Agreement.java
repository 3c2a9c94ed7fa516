package org.opendedup.sar.sdfs.fuse.kernel;

/**
 * The result of INIT: what the kernel and this service agreed on.
 *
 * @param minor minor version of the protocol
 * @param flags accepted features ({@link Protocol.InitFlag})
 */
record Agreement(int minor, int flags) {
    /** Returns true if all of these features were accepted. */
    boolean has(int abilities) {
        return (flags & abilities) == abilities;
    }
}
