package org.opendedup.sar.sdfs.cli.daemon;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.opendedup.sar.io.handle.MountTable;
import org.opendedup.sar.sdfs.cli.mounts.MountUsers;

/** The daemon's mount as the kernel's mount table shows it. Safe for use by many threads. */
final class ServedMount {
    private final Path mountPoint;
    /** Entry in the mount table from the start of the mount. */
    private volatile Optional<MountTable.Entry> entry = Optional.empty();

    ServedMount(Path mountPoint) {
        this.mountPoint = mountPoint;
    }

    /** Notes the mount, which was made just now; returns its entry, empty if there is none. */
    Optional<MountTable.Entry> begin() throws IOException {
        entry = MountTable.read().top(mountPoint);
        return entry;
    }

    /** Refuses to change containers while the volume is mounted read-only. */
    void checkWritable() throws IOException {
        Optional<MountTable.Entry> mount = entry;
        if (mount.isPresent()
                && MountTable.read()
                        .withId(mount.get().id())
                        .map(now -> now.options().contains("ro"))
                        .orElse(false)) {
            throw new IOException("the volume is mounted read-only");
        }
    }

    /** Returns whether it is unmounted for all but the programs with open files, as {@code umount -l} leaves it. */
    boolean isDetached() throws IOException {
        Optional<MountTable.Entry> mount = entry;
        return mount.isPresent() && !MountTable.read().contains(mount.get());
    }

    /** Returns the processes that keep the mount busy; empty if they cannot be seen. */
    List<String> users() throws IOException {
        Optional<MountTable.Entry> mount = entry;
        return mount.isPresent() ? MountUsers.of(mount.get()) : List.of();
    }
}
