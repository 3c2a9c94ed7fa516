package org.opendedup.sar.sdfs.fuse;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.io.handle.MountTable;
import org.opendedup.sar.volume.names.AccessTimes;

/**
 * Decides when reading sets access times, by the current options of the mount. The kernel does not report a remount to
 * a FUSE daemon, so this class reads the mount table, at most ten times a second. If the mount is not in the table, the
 * options of the original mount apply. Safe for use by many threads.
 */
final class AccessRules {
    private static final long REFRESH_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final MountOptions options;
    private volatile Rules rules;

    private record Rules(AccessTimes files, AccessTimes directories, long readNs) {}

    AccessRules(MountOptions options) {
        this.options = options;
        rules = asMounted(System.nanoTime());
    }

    /** Returns the rule for files and symbolic links. */
    AccessTimes ofFiles() {
        return current().files;
    }

    AccessTimes ofDirectories() {
        return current().directories;
    }

    private Rules current() {
        Rules known = rules;
        long now = System.nanoTime();
        if (now - known.readNs < REFRESH_NS) {
            return known;
        }
        Rules read = read(now);
        rules = read;
        return read;
    }

    private Rules read(long now) {
        try {
            return MountTable.read()
                    .top(options.mountPoint())
                    .map(mount -> of(mount.options(), now))
                    .orElseGet(() -> asMounted(now));
        } catch (IOException e) {
            return asMounted(now);
        }
    }

    private Rules asMounted(long now) {
        return options.readOnly()
                ? new Rules(AccessTimes.NEVER, AccessTimes.NEVER, now)
                : new Rules(options.accessTimes(), options.directoryAccessTimes(), now);
    }

    /** @param mount options from the mount table; without any of the options below, access times are strict */
    private static Rules of(Set<String> mount, long now) {
        AccessTimes files = mount.contains("ro") || mount.contains("noatime")
                ? AccessTimes.NEVER
                : mount.contains("relatime") ? AccessTimes.RELATIVE : AccessTimes.ALWAYS;
        return new Rules(files, mount.contains("nodiratime") ? AccessTimes.NEVER : files, now);
    }
}
