package org.opendedup.sar.sdfs.cli.mounts;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Options that mount(8) passes to its helpers, from the command line, fstab or the mount table. Many have no meaning
 * for a file system. See mount(8), "FILESYSTEM-INDEPENDENT MOUNT OPTIONS".
 */
public record MountHelperOptions(List<String> options) {
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

    /** In the mount table of every FUSE mount. */
    private static final String USER_ID = "user_id=";

    /**
     * Fields of a FUSE mount in the mount table, which mount(8) passes on with a remount. The kernel changes none of
     * them.
     */
    private static final List<String> MOUNT_TABLE_PREFIXES =
            List.of(USER_ID, "group_id=", "rootmode=", "max_read=", "blksize=", "fd=");

    /** @param commaSeparated options as in {@code -o} */
    public static MountHelperOptions of(String commaSeparated) {
        return new MountHelperOptions(Arrays.stream(commaSeparated.split(","))
                .map(String::strip)
                .filter(option -> !option.isEmpty())
                .toList());
    }

    /** Returns the options, separated by commas, that are left for the file system. */
    public static String without(String options) {
        return of(options).forFileSystem();
    }

    public boolean isRemount() {
        return options.contains(REMOUNT);
    }

    /** Returns the options that may concern a file system, separated by commas. */
    public String forFileSystem() {
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
     * Returns whether an option only repeats a present prohibition that the remount lifts. This holds only if mount(8)
     * used the mount table, which never contains "allow_suid" or "allow_dev". A line of fstab may both forbid and
     * allow; then the prohibition wins.
     */
    private boolean isOvercome(String option, String what) {
        return option.equals("no" + what)
                && options.contains("allow_" + what)
                && options.stream().anyMatch(other -> other.startsWith(USER_ID));
    }

    /** Returns only the known options, as mount -s requires. */
    public MountHelperOptions known(Predicate<String> isKnown) {
        return new MountHelperOptions(options.stream()
                .filter(option -> option.equals(REMOUNT) || without(option).isEmpty() || isKnown.test(option))
                .toList());
    }
}
