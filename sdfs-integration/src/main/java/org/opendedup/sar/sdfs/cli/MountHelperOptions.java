package org.opendedup.sar.sdfs.cli;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Options that mount(8) hands on to its helpers, from the command line, fstab or the mount table. Many say nothing to a file
 * system. See mount(8), "FILESYSTEM-INDEPENDENT MOUNT OPTIONS".
 */
record MountHelperOptions(List<String> options) {
    private static final String REMOUNT = "remount";

    private static final Set<String> NAMES = Set.of(
            "async",
            "auto",
            "defaults",
            "group",
            "noauto",
            "nofail",
            "nogroup",
            "noowner",
            "nouser",
            "nousers",
            "owner",
            "user",
            "users",
            "_netdev");

    private static final List<String> PREFIXES = List.of("x-", "X-", "user=", "uhelper=", "helper=", "comment=");

    /** In the mount table for every FUSE mount. */
    private static final String USER_ID = "user_id=";

    /** What the mount table says of a FUSE mount, which mount(8) hands on with a remount. The kernel changes none of it. */
    private static final List<String> MOUNT_TABLE_PREFIXES =
            List.of(USER_ID, "group_id=", "rootmode=", "max_read=", "blksize=", "fd=");

    /** @param commaSeparated as {@code -o} takes them */
    static MountHelperOptions of(String commaSeparated) {
        return new MountHelperOptions(Arrays.stream(commaSeparated.split(","))
                .map(String::strip)
                .filter(option -> !option.isEmpty())
                .toList());
    }

    /** The options, separated by commas, that are left for the file system. */
    static String without(String options) {
        return of(options).forFileSystem();
    }

    boolean isRemount() {
        return options.contains(REMOUNT);
    }

    /** Those that a file system may have a say in, separated by commas. */
    String forFileSystem() {
        return options.stream()
                .filter(option -> !NAMES.contains(option) && PREFIXES.stream().noneMatch(option::startsWith))
                .filter(option -> !isRemount() || !isForRemountOnly(option))
                .collect(Collectors.joining(","));
    }

    private boolean isForRemountOnly(String option) {
        return option.equals(REMOUNT)
                || MOUNT_TABLE_PREFIXES.stream().anyMatch(option::startsWith)
                || isOvercome(option, "suid")
                || isOvercome(option, "dev");
    }

    /**
     * Whether an option only says what the mount forbids so far, and the remount allows it. Only where mount(8) took the mount table, which
     * never allows: where it took a line of fstab, that may forbid and allow, and then forbids.
     */
    private boolean isOvercome(String option, String what) {
        return option.equals("no" + what)
                && options.contains("allow_" + what)
                && options.stream().anyMatch(other -> other.startsWith(USER_ID));
    }

    /** Only those that are known: what mount -s asks for. */
    MountHelperOptions known(Predicate<String> isKnown) {
        return new MountHelperOptions(options.stream()
                .filter(option -> option.equals(REMOUNT) || without(option).isEmpty() || isKnown.test(option))
                .toList());
    }
}
