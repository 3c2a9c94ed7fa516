package org.opendedup.sar.heal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.heal.HealReport.Unhealed;

class UnhealedContainersTest {
    private static final int MOST = 10;
    private static final int FRAMES = 4;

    private static List<Unhealed> frames(long container) {
        List<Unhealed> frames = new ArrayList<>();
        for (int frame = 0; frame < FRAMES; frame++) {
            frames.add(new Unhealed(container, 16 * frame, 16, "frame " + frame + " has no copy"));
        }
        return frames;
    }

    private static List<Unhealed> all(UnhealedContainers containers) {
        List<Unhealed> all = new ArrayList<>();
        containers.forEach(all::add);
        return all;
    }

    @Test
    void ofManyContainersEachHasOneEntryWithAllItsChunks() {
        UnhealedContainers containers = new UnhealedContainers(MOST);
        for (long container = 1; container <= 1000; container++) {
            containers.put(container, frames(container));
        }
        List<Unhealed> all = all(containers);
        assertTrue(all.size() < MOST + 1000, () -> all.size() + " entries");
        assertEquals(
                1000 * FRAMES * 16, all.stream().mapToLong(Unhealed::chunks).sum());
        assertEquals(frames(1), all.subList(0, FRAMES), "the first ones stay as they are");
        assertEquals(1000, containers.containers().size());
    }

    @Test
    void whatIsHealedMakesRoom() {
        UnhealedContainers containers = new UnhealedContainers(MOST);
        containers.put(1, frames(1));
        containers.put(2, frames(2));
        containers.put(1, List.of());
        containers.put(3, frames(3));
        assertEquals(Set.of(2L, 3L), containers.containers());
        assertEquals(2 * FRAMES, all(containers).size());
    }
}
