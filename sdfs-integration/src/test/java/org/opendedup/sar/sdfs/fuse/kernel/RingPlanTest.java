package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.BitSet;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.sdfs.fuse.MountOptions;

class RingPlanTest {
    private static RingPlan plan(String possible, String online, int threads) {
        return RingPlan.of(new Processors(Processors.parse(possible), Processors.parse(online)), threads);
    }

    @Test
    void listsOfProcessorsAreRead() {
        BitSet expected = new BitSet();
        expected.set(0);
        expected.set(2, 6);
        assertEquals(expected, Processors.parse("0,2-5"));
        expected.clear();
        expected.set(0, 2);
        assertEquals(expected, Processors.parse("0-1"));
    }

    @Test
    void aNumberOfThreadsIsSharedOut() {
        assertEquals(256, plan("0", "0", 8).threadsOf(0));
        assertEquals(128, plan("0-1", "0-1", 8).threadsOf(1));
        assertEquals(256, plan("0-1", "0-1", 8).entries());
        assertEquals(16, plan("0-31", "0-31", 8).threadsOf(31));
    }

    @Test
    void aProcessorThatMayComeHasTwoThreads() {
        RingPlan plan = plan("0-7", "0-1", 8);
        assertEquals(8, plan.queues());
        assertEquals(2, plan.threadsOf(2));
        assertEquals(2 * 128 + 6 * 2, plan.entries());
    }

    @Test
    void theRequestsOfReadAheadAndWriteBackKeepLargeBuffers() {
        RingPlan plan = plan("0-1", "0-1", 8);
        long cells = 32L * RingMemory.CELL_BYTES + 224L * RingMemory.SMALL_CELL_BYTES;
        assertEquals(cells + 256 * (96 << 10), plan.bufferBytes());
    }

    @Test
    void aMountOptionTurnsItOff() {
        MountOptions off = MountOptions.of(Path.of("/mnt"), "toy").with("noio_uring");
        IOException refusal = assertThrows(IOException.class, () -> RingPlan.of(off));
        assertTrue(refusal.getMessage().contains("noio_uring"), refusal.getMessage());
    }
}
