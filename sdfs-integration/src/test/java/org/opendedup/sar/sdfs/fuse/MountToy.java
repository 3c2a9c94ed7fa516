package org.opendedup.sar.sdfs.fuse;

import java.nio.file.Path;
import org.opendedup.sar.sdfs.fuse.kernel.KernelMount;

/** Mounts a toy file system in a process of its own: {@code MountToy memory|nothing MOUNTPOINT [OPTIONS]}. */
public final class MountToy {
    private MountToy() {}

    public static void main(String[] arguments) throws Exception {
        FuseFileSystem toy = arguments[0].equals("nothing") ? new NothingStored(64L << 30) : new MemoryFileSystem();
        MountOptions options = MountOptions.of(Path.of(arguments[1]), "toy");
        if (arguments.length > 2) {
            options = options.with(arguments[2]);
        }
        try (KernelMount mount = KernelMount.mount(toy, options)) {
            System.out.println("mounted");
            mount.awaitEnd();
        }
    }
}
