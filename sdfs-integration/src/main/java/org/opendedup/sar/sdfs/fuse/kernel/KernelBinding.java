package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.IntPredicate;
import org.opendedup.sar.sdfs.fuse.FuseBinding;
import org.opendedup.sar.sdfs.fuse.FuseMount;
import org.opendedup.sar.sdfs.fuse.FuseOperations;
import org.opendedup.sar.sdfs.fuse.MountOptions;

/**
 * Serves the FUSE kernel protocol without libfuse. Needs {@code /dev/fuse} and Linux 5.4 or newer. Root needs nothing
 * more; other users also need {@code fusermount3}.
 */
public final class KernelBinding implements FuseBinding {
    public static final String NAME = "kernel";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public long bufferBytes(MountOptions options) {
        return options.threads() * Channel.BUFFER_BYTES;
    }

    @Override
    public FuseMount mount(FuseOperations operations, MountOptions options) throws IOException {
        Libc libc = new Libc();
        boolean root = libc.functions().geteuid() == 0;
        Mounter mounter = root ? new DirectMounter(libc) : new FusermountMounter(libc);
        return mount(operations, options, libc, mounter, PendingSignals::killed);
    }

    /**
     * Changes the options of a mount of any process and binding, as {@code mount -o remount} does: read-only or
     * writable, setuid programs, devices, execution, access times, synchronous writes. The other options keep their
     * values. A change to read-only first writes back the kernel's cache. For root only.
     *
     * @throws IOException if the mount cannot be changed; with "busy" in its message if it was to become read-only and
     *     files are open for writing
     */
    public static void remount(MountOptions options) throws IOException {
        new DirectMounter(new Libc()).remount(options);
    }

    /** @param killed returns whether a thread is about to be killed */
    static FuseMount mount(
            FuseOperations operations, MountOptions options, Libc libc, Mounter mounter, IntPredicate killed)
            throws IOException {
        Path mountPoint = options.mountPoint();
        if (!Files.isDirectory(mountPoint)) {
            throw new IOException(mountPoint + " is not a directory to mount on (is there a dead mount?"
                    + " Then: umount -l " + mountPoint + ")");
        }
        return KernelMount.start(operations, options.withMountPoint(mountPoint.toRealPath()), libc, mounter, killed);
    }
}
