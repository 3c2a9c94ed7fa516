package org.opendedup.sar.sdfs.cli;

import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;

/** Options that mount(8) hands on to its helpers from the command line or fstab, and that say nothing to a file system. */
final class MountHelperOptions {
    private static final Set<String> NAMES = Set.of(
            "async", "auto", "defaults", "group", "noauto", "nofail", "nouser", "owner", "user", "users", "_netdev");

    private MountHelperOptions() {}

    /** The options, separated by commas, that are left for the file system. */
    static String without(String options) {
        return Arrays.stream(options.split(","))
                .filter(option -> !NAMES.contains(option))
                .filter(option -> !option.startsWith("x-") && !option.startsWith("X-"))
                .filter(option -> !option.startsWith("user=") && !option.startsWith("comment="))
                .collect(Collectors.joining(","));
    }
}
