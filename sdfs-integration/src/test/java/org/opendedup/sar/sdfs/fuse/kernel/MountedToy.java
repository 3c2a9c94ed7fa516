package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Assumptions;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.sdfs.fuse.FuseFileSystem;
import org.opendedup.sar.sdfs.fuse.MountOptions;
import org.opendedup.sar.sdfs.fuse.Shell;

/** A file system mounted under a folder of its own, for one test. Closing it removes the mount in every case. */
final class MountedToy implements AutoCloseable {
    final Path root;
    final KernelMount mount;

    MountedToy(FuseFileSystem operations) throws IOException {
        this(operations, "rw");
    }

    MountedToy(FuseFileSystem operations, String options) throws IOException {
        this(operations, options, null);
    }

    /** @param mounter how to mount; null for what suits the user */
    MountedToy(FuseFileSystem operations, String options, Mounter mounter) throws IOException {
        this(operations, options, mounter, ThreadStatus::isKilled);
    }

    /** @param killed tells whether a thread is about to be killed */
    MountedToy(FuseFileSystem operations, String options, Mounter mounter, IntPredicate killed) throws IOException {
        this(operations, options, mounter, killed, new Libc());
    }

    /** @param libc serves the mount */
    MountedToy(FuseFileSystem operations, String options, Mounter mounter, IntPredicate killed, Libc libc)
            throws IOException {
        assumeFuse();
        root = Files.createTempDirectory("sdfs-fuse-");
        MountOptions mountOptions =
                MountOptions.of(root, "toy").with("threads=4").with(options);
        boolean root = libc.functions().geteuid() == 0;
        Mounter suitable = root ? new DirectMounter(libc) : new FusermountMounter(libc);
        mount = KernelMount.mount(operations, mountOptions, libc, mounter == null ? suitable : mounter, killed);
    }

    static void assumeFuse() {
        Libc libc = new Libc();
        int fd = libc.open(Path.of(Protocol.DEVICE), Libc.O_RDWR);
        Assumptions.assumeTrue(fd >= 0, "skipped: /dev/fuse cannot be opened here");
        libc.functions().close(fd);
    }

    /** See {@link Shell#run}; in the mount point. */
    String shell(String command) throws IOException, InterruptedException {
        return Shell.run(root, command);
    }

    /** Makes the kernel write back and forget what it cached of this mount. */
    void dropKernelCaches() throws IOException, InterruptedException {
        shell("mount -i -o remount \"$PWD\"");
    }

    @Override
    public void close() throws IOException, InterruptedException {
        try {
            mount.close();
        } finally {
            Shell.removeMountPoint(root);
        }
    }
}
