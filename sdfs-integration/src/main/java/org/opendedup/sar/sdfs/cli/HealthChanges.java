package org.opendedup.sar.sdfs.cli;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.report.StatusReport;

/**
 * Decides which changes of a volume's health are told: those that last. What comes and goes within a few looks is not
 * told. A change is one of the health, or of what is wrong.
 */
final class HealthChanges {
    /** Before the first look: a watch that begins with a volume that is not well tells that. */
    static final State WELL = new State("well", "mounted", List.of());

    private final int looks;
    private State told = WELL;
    private @Nullable State seen;
    private int seenFor;

    /**
     * How a volume is.
     *
     * @param health well, degraded, damaged or unknown
     * @param state mounted, not mounted, and so on
     * @param findings what is wrong, as {@code status --json} has it
     */
    record State(String health, String state, List<Map<String, Object>> findings) {
        /** Reads an answer of the daemon, or what stands in its place. */
        static State of(Map<String, Object> status) {
            return new State(
                    String.valueOf(status.getOrDefault("health", StatusReport.UNKNOWN)),
                    String.valueOf(status.getOrDefault("state", StatusReport.UNKNOWN)),
                    Json.objects(status, "findings"));
        }

        private List<Object> essence() {
            var ids = new TreeSet<String>();
            findings.forEach(finding -> ids.add(String.valueOf(finding.get("id"))));
            return List.of(health, state, ids);
        }
    }

    /** From one state that was told to the next. */
    record Change(State before, State now) {}

    /** @param looks number of looks in a row that must show a state before it is reported, at least 1 */
    HealthChanges(int looks) {
        this.looks = looks;
    }

    /** Takes the result of a look; returns a change that is to be told. */
    Optional<Change> look(State now) {
        boolean asLastTime = seen != null && seen.essence().equals(now.essence());
        seenFor = asLastTime ? seenFor + 1 : 1;
        seen = now;
        if (now.essence().equals(told.essence()) || seenFor < looks) {
            return Optional.empty();
        }
        var change = new Change(told, now);
        told = now;
        return Optional.of(change);
    }
}
