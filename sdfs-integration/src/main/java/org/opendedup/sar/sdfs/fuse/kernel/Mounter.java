package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.nio.file.Path;
import org.opendedup.sar.sdfs.fuse.MountOptions;

/** Puts a FUSE file system on a mount point and takes it off again. */
interface Mounter {
    /** The kind of file system that {@code mount} shows after {@code fuse.}. */
    String SUBTYPE = "sdfs";

    /** @return the device's descriptor, on which the kernel's INIT waits; the caller owns it */
    int mount(MountOptions options) throws IOException;

    /** @return false if programs use the file system; it then stays mounted */
    boolean unmount(Path mountPoint) throws IOException;

    /**
     * Takes the mount point off at once, and cuts the connection where this process may. Programs that still use it get
     * errors.
     */
    void detach(Path mountPoint) throws IOException;
}
