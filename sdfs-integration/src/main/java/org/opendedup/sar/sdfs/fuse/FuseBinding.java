package org.opendedup.sar.sdfs.fuse;

import java.io.IOException;

/**
 * Connects a file system to the kernel. Implementations are in subpackages; callers find them through
 * {@code FuseBindings}.
 */
public interface FuseBinding {
    /** Returns the name for {@code FuseBindings.named}. */
    String name();

    /** Returns the native memory for the request and reply buffers of a mount with these options, in bytes. */
    long bufferBytes(MountOptions options);

    /**
     * Mounts a file system and starts to serve it. The mount point answers requests when this method returns.
     *
     * @throws IOException if the mount point cannot be used or the kernel cannot be served; the message says why, and
     *     nothing stays mounted
     */
    FuseMount mount(FuseOperations operations, MountOptions options) throws IOException;
}
