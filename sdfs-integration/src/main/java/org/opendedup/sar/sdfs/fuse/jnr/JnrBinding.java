package org.opendedup.sar.sdfs.fuse.jnr;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.opendedup.sar.sdfs.fuse.FuseBinding;
import org.opendedup.sar.sdfs.fuse.FuseMount;
import org.opendedup.sar.sdfs.fuse.FuseOperations;
import org.opendedup.sar.sdfs.fuse.MountOptions;

/**
 * Serves through libfuse 2 (package libfuse2) and jnr-fuse. Slower than the kernel binding, and by path where the kernel
 * binding is by inode; for places where that one cannot run.
 */
public final class JnrBinding implements FuseBinding {
    public static final String NAME = "jnr";

    @Override
    public String name() {
        return NAME;
    }

    /** A request, and as much of libfuse's own. */
    @Override
    public long bufferBytes(int threads) {
        return 2L * threads * FuseArguments.REQUEST_BYTES;
    }

    @Override
    public FuseMount mount(FuseOperations operations, MountOptions options) throws IOException {
        Path mountPoint = options.mountPoint();
        if (!Files.isDirectory(mountPoint)) {
            throw new IOException(mountPoint + " is not a directory one can mount on (is a dead mount in the way?"
                    + " Then: umount -l " + mountPoint + ")");
        }
        boolean root =
                ProcessHandle.current().info().user().filter("root"::equals).isPresent();
        return JnrMount.start(LibFuse2.load(), operations, options.withMountPoint(mountPoint.toRealPath()), root);
    }
}
