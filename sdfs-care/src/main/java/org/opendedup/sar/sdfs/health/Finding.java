package org.opendedup.sar.sdfs.health;

import java.util.List;

/**
 * Something that is wrong with a volume.
 *
 * @param id a stable name, such as {@code read-only}
 * @param severity DEGRADED or DAMAGED
 * @param what what is wrong, as one sentence without its full stop
 * @param remedy what to do, as one sentence without its full stop; it ends before the command
 * @param command the exact command of the remedy; empty if there is none
 */
public record Finding(String id, Health severity, String what, String remedy, String command) {
    public Finding {
        if (severity == Health.WELL) {
            throw new IllegalArgumentException("nothing is wrong: " + what);
        }
    }

    /** Returns the health of a volume with these findings. */
    public static Health healthOf(List<Finding> findings) {
        return findings.stream().map(Finding::severity).max(Health::compareTo).orElse(Health.WELL);
    }

    /** Returns all of it on one line. */
    public String line() {
        return severity + ": " + what + "; " + remedy + (command.isEmpty() ? "" : ": " + command);
    }
}
