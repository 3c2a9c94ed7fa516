package org.opendedup.sar.sdfs.fuse;

import java.io.IOException;
import org.opendedup.sar.sdfs.cli.daemon.FuseBindings;

/**
 * Connects a file system to the kernel. Implementations are in subpackages; callers find them through
 * {@link FuseBindings}.
 */
public interface FuseBinding {
    /** Returns the name for {@link FuseBindings#named}. */
    String name();

    /** Returns the native memory for the request and reply buffers of {@code threads} threads, in bytes. */
    long bufferBytes(int threads);

    /**
     * Mounts a file system and starts to serve it. The mount point answers requests when this method returns.
     *
     * @throws IOException if the mount point cannot be used or the kernel cannot be served; the message says why, and
     *     nothing stays mounted
     */
    FuseMount mount(FuseOperations operations, MountOptions options) throws IOException;
}
