package org.opendedup.sar.sdfs.fuse.jnr;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.opendedup.sar.sdfs.fuse.FuseMount;
import org.opendedup.sar.sdfs.fuse.FuseOperations;
import org.opendedup.sar.sdfs.fuse.MountOptions;
import org.opendedup.sar.sdfs.fuse.Shell;

/** A toy mounted by libfuse 2 under a folder of its own. Closing it removes the mount in every case. */
final class ToyMount implements AutoCloseable {
    final Path root;
    final FuseMount mount;

    ToyMount(FuseOperations operations, String options) throws IOException {
        Assumptions.assumeTrue(Files.isWritable(Path.of("/dev/fuse")), "skipped: /dev/fuse cannot be opened here");
        root = Files.createTempDirectory("sdfs-jnr-").toRealPath();
        mount = new JnrBinding()
                .mount(operations, MountOptions.of(root, "toy").withThreads(4).with(options));
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
