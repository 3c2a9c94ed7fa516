package org.opendedup.sar.sdfs.fuse.kernel;

import java.util.Arrays;

/**
 * Checks the supplementary groups of a caller in {@code /proc} (proc_pid_status(5)). The request itself names only one
 * group.
 */
@FunctionalInterface
interface SupplementaryGroups {
    /**
     * Returns whether a group is among those of a thread that waits for its request. Returns false if the thread is not
     * visible.
     */
    boolean contain(int thread, int group);

    /** Reads {@code /proc} of this machine. */
    static boolean containNow(int thread, int group) {
        if (thread <= 0) {
            return false;
        }
        // For a thread that is hidden (hidepid) or in another pid namespace, only the group in its request is known.
        return ThreadStatus.lines(thread)
                .filter(line -> line.startsWith("Groups:"))
                .flatMap(line -> Arrays.stream(
                        line.substring(line.indexOf(':') + 1).strip().split("\\s+")))
                .anyMatch(Integer.toUnsignedString(group)::equals);
    }
}
