package org.opendedup.sar.sdfs.fuse.jnr;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.opendedup.sar.sdfs.fuse.FuseBinding;
import org.opendedup.sar.sdfs.fuse.FuseMount;
import org.opendedup.sar.sdfs.fuse.FuseOperations;
import org.opendedup.sar.sdfs.fuse.MountOptions;

/**
 * Serves through libfuse 2 (package libfuse2) and jnr-fuse, on systems where the kernel binding cannot run. Slower than
 * the kernel binding. Works by path; the kernel binding works by inode.
 */
public final class JnrBinding implements FuseBinding {
    public static final String NAME = "jnr";

    @Override
    public String name() {
        return NAME;
    }

    /** Returns the native memory in bytes: per thread, one request buffer here and one of the same size in libfuse. */
    @Override
    public long bufferBytes(MountOptions options) {
        return 2L * options.threads() * FuseArguments.REQUEST_BYTES;
    }

    @Override
    public FuseMount mount(FuseOperations operations, MountOptions options) throws IOException {
        Path mountPoint = options.mountPoint();
        if (!Files.isDirectory(mountPoint)) {
            throw new IOException(mountPoint + " is not a directory to mount on (is there a dead mount?"
                    + " Then: umount -l " + mountPoint + ")");
        }
        boolean root =
                ProcessHandle.current().info().user().filter("root"::equals).isPresent();
        return JnrMount.start(LibFuse2.load(), operations, options.withMountPoint(mountPoint.toRealPath()), root);
    }
}
