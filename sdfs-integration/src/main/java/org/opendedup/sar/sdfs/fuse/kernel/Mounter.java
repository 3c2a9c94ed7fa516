package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.nio.file.Path;
import org.opendedup.sar.sdfs.fuse.MountOptions;

/** Mounts and unmounts a FUSE file system. */
interface Mounter {
    /** File system subtype, which {@code mount} shows after {@code fuse.}. */
    String SUBTYPE = "sdfs";

    /** @return descriptor of the device, from which INIT is read next; the caller closes it */
    int mount(MountOptions options) throws IOException;

    /** @return false if programs use the file system; it then stays mounted */
    boolean unmount(Path mountPoint) throws IOException;

    /**
     * Detaches the mount point at once, and aborts the connection if this process may do so. Programs that still use it
     * get errors.
     */
    void detach(Path mountPoint) throws IOException;
}
