package org.opendedup.sar.sdfs.fuse;

import java.nio.file.Path;
import org.opendedup.sar.sdfs.cli.daemon.FuseBindings;

/** Mounts a toy file system in a process of its own: {@code MountToy memory|nothing MOUNTPOINT [OPTIONS [BINDING]]}. */
public final class MountToy {
    private MountToy() {}

    public static void main(String[] arguments) throws Exception {
        FuseOperations toy = arguments[0].equals("nothing") ? new NothingStored(64L << 30) : new MemoryFileSystem();
        MountOptions options = MountOptions.of(Path.of(arguments[1]), "toy");
        if (arguments.length > 2) {
            options = options.with(arguments[2]);
        }
        FuseBinding binding = FuseBindings.named(arguments.length > 3 ? arguments[3] : FuseBindings.DEFAULT);
        try (FuseMount mount = binding.mount(toy, options)) {
            System.out.println("mounted");
            mount.awaitEnd();
        }
    }
}
