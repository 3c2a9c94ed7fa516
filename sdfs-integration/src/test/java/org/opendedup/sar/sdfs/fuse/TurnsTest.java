package org.opendedup.sar.sdfs.fuse;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TurnsTest {
    @Test
    void whoAsksForLittleWaitsForNobodysHeap() {
        var turns = new Turns<String>();
        for (int i = 0; i < 3; i++) {
            turns.add(7, "greedy" + i);
        }
        turns.add(8, "modest");
        turns.add(9, "other");
        turns.add(9, "other again");
        var order = new ArrayList<String>();
        for (String next = turns.poll(); next != null; next = turns.poll()) {
            order.add(next);
        }
        assertEquals(List.of("greedy0", "modest", "other", "greedy1", "other again", "greedy2"), order);
        assertNull(turns.poll());
        turns.add(7, "again");
        assertEquals("again", turns.poll());
    }
}
