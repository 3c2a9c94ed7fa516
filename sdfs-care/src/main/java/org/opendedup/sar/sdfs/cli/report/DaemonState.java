package org.opendedup.sar.sdfs.cli.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.objects.lease.LeaseStatus;

/**
 * What a process that serves a volume says of itself. What is null is left out of its answers.
 *
 * @param state mounted, opening, closing or detached
 * @param mountPoint where the volume is mounted; null if the process does not know
 * @param permissionsTakenAway number of files and folders that were open to other users when the process began
 * @param lastEnd how the volume's last process ended, as text; null if it closed the volume in order
 * @param stopped why the volume accepts no changes, as text; null while it accepts them
 * @param users processes that use a mount which was detached from its mount point; null also where the answer must not
 *     wait for a look at all processes
 * @param jmxName the volume's name in JMX, if it has another
 * @param lease what keeps other machines from using the volume; null if the volume is on this machine only
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record DaemonState(
        String state,
        @Nullable String mountPoint,
        long pid,
        @Nullable Integer permissionsTakenAway,
        @Nullable String lastEnd,
        @Nullable String stopped,
        @Nullable List<String> users,
        @Nullable String jmxName,
        @Nullable LeaseStatus lease) {
    /** Makes the state of a process that serves a volume which is on this machine only. */
    public DaemonState(
            String state,
            @Nullable String mountPoint,
            long pid,
            @Nullable Integer permissionsTakenAway,
            @Nullable String lastEnd,
            @Nullable String stopped,
            @Nullable List<String> users,
            @Nullable String jmxName) {
        this(state, mountPoint, pid, permissionsTakenAway, lastEnd, stopped, users, jmxName, null);
    }
}
