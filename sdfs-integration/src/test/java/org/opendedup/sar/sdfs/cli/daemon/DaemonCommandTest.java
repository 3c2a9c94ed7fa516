package org.opendedup.sar.sdfs.cli.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DaemonCommandTest {
    private final AtomicInteger onward = new AtomicInteger();

    private boolean ends(int waits, Long... toSend) throws InterruptedException {
        AtomicInteger left = new AtomicInteger(waits);
        Queue<Long> bytes = new ArrayDeque<>(List.of(toSend));
        onward.set(0);
        return DaemonCommand.awaitEnd(() -> left.decrementAndGet() == 0, bytes::remove, onward::incrementAndGet);
    }

    @Test
    void anEndWaitsAsLongAsTheObjectStoreGetsBytes() throws InterruptedException {
        assertTrue(ends(1));
        assertFalse(ends(5, 0L), "a volume of this machine, or one whose store has everything");
        assertTrue(ends(4, 30L, 20L, 10L));
        assertEquals(3, onward.get());
        assertFalse(ends(5, 30L, 20L, 20L), "the store takes nothing any more");
        assertEquals(2, onward.get());
    }
}
