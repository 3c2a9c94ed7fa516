package org.opendedup.sar.sdfs.fuse;

import java.io.IOException;

/** A way to serve a file system to the kernel. Implementations live in subpackages, behind {@link FuseBindings}. */
public interface FuseBinding {
    /** The name by which {@link FuseBindings#named} finds it. */
    String name();

    /** Memory outside the heap that so many threads take for requests and replies. */
    long bufferBytes(int threads);

    /**
     * Mounts a file system and starts to serve it. When this returns, the mount point answers.
     *
     * @throws IOException if the place cannot be mounted on or the kernel cannot be served; the message says why, and
     *     nothing stays mounted
     */
    FuseMount mount(FuseOperations operations, MountOptions options) throws IOException;
}
