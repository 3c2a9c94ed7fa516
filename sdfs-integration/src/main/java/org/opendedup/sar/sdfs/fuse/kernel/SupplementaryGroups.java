package org.opendedup.sar.sdfs.fuse.kernel;

import java.util.Arrays;

/** The groups of a caller beside the one that its request names, as {@code /proc} tells them (proc_pid_status(5)). */
@FunctionalInterface
interface SupplementaryGroups {
    /** Whether a group is among those of a thread that waits for its request. False for a thread that is not to be seen. */
    boolean contain(int thread, int group);

    /** Asks the machine. */
    static boolean containNow(int thread, int group) {
        if (thread <= 0) {
            return false;
        }
        // Of one that is hidden (hidepid), or in another pid namespace, the one group that is known must do.
        return ThreadStatus.lines(thread)
                .filter(line -> line.startsWith("Groups:"))
                .flatMap(line -> Arrays.stream(
                        line.substring(line.indexOf(':') + 1).strip().split("\\s+")))
                .anyMatch(Integer.toUnsignedString(group)::equals);
    }
}
