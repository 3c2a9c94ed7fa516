package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.sdfs.cli.HealthChanges.State;

@Timeout(30)
class HealthChangesTest {
    private static State state(String health, String... findings) {
        return new State(
                health,
                "mounted",
                Stream.of(findings).map(id -> Map.<String, Object>of("id", id)).toList());
    }

    /** Returns the change that the listener gets, as "before to now". */
    private static List<String> told(int looks, State... states) {
        var changes = new HealthChanges(looks);
        List<String> told = new ArrayList<>();
        for (State state : states) {
            changes.look(state)
                    .ifPresent(change ->
                            told.add(change.before().health() + change.before().findings() + " to "
                                    + change.now().health() + change.now().findings()));
        }
        return told;
    }

    @Test
    void aChangeIsToldOnceWhenItLasts() {
        State well = state("well");
        State full = state("degraded", "nearly-full");
        assertEquals(
                List.of("well[] to degraded[{id=nearly-full}]", "degraded[{id=nearly-full}] to well[]"),
                told(2, well, full, full, full, full, well, well, well));
    }

    @Test
    void whatComesAndGoesIsNotTold() {
        State well = state("well");
        State slow = state("degraded", "ssd-suspended");
        assertEquals(List.of(), told(2, well, slow, well, slow, well, slow, well));
        assertEquals(6, told(1, well, slow, well, slow, well, slow, well).size(), "the control: without a delay");
    }

    @Test
    void somethingElseThatIsWrongIsAChange() {
        State one = state("degraded", "nearly-full");
        State other = state("degraded", "nearly-full", "ssd-failed");
        assertEquals(2, told(2, one, one, other, other).size());
        assertEquals(
                1,
                told(2, other, other, state("degraded", "ssd-failed", "nearly-full"), other)
                        .size());
    }

    @Test
    void aVolumeThatIsNotMountedIsUnknown() {
        assertEquals("unknown", State.of(Map.of("state", "not mounted")).health());
        assertEquals(
                1,
                told(
                                2,
                                state("well"),
                                State.of(Map.of("state", "not mounted")),
                                State.of(Map.of("state", "not mounted")))
                        .size());
    }
}
