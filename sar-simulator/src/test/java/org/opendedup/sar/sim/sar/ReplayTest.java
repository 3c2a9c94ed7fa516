package org.opendedup.sar.sim.sar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.sim.block.BlockRequest;
import org.opendedup.sar.sim.block.BlockTrace;
import org.opendedup.sar.sim.device.Machine;

class ReplayTest {
    private static final long SECOND = 1_000_000_000;
    private static final double SSD_READ_MILLIS = 0.06;

    /** Every request costs a read of a block from the SSD, and a write of one later. */
    private static final class SsdOnly implements StorageSystem {
        @Override
        public void serve(BlockRequest request, TransferSink sink) {
            sink.readSsd(4096);
            sink.writeSsdLater(4096);
        }

        @Override
        public boolean hasSsd() {
            return true;
        }
    }

    /** So many reads of a block, so far apart. */
    private static BlockTrace reads(int count, long gapNanos) {
        int[] made = {0};
        return into -> {
            into.begin(made[0] * gapNanos, false, made[0]);
            into.add(7);
            return made[0]++ < count;
        };
    }

    private static SystemResult replay(BlockTrace trace, Window window, double timeScale) throws IOException {
        Replay.Settings settings =
                new Replay.Settings(Machine.load("sar"), window, false, timeScale, 10 * SECOND, Replay.MANY_UNDER_WAY);
        return Replay.run(settings, new SsdOnly(), trace);
    }

    @Test
    void whatComesBeforeTheWindowIsNotMeasuredAndWhatComesAfterNeither() throws IOException {
        SystemResult result = replay(reads(100, SECOND), new Window(20 * SECOND, 50 * SECOND), 1);
        assertEquals(20, result.warmRequests());
        assertEquals(30, result.reads().requests());
        assertEquals(SSD_READ_MILLIS, result.reads().meanMs(), 0.001);
        assertEquals(3, result.series().size());
        assertEquals(1.0, result.ssdShareOfReads());
    }

    @Test
    void whatIsWrittenLaterKeepsTheSsdBusyButNobodyWaits() throws IOException {
        SystemResult result = replay(reads(30, SECOND), new Window(0, 100 * SECOND), 1);
        assertNotNull(result.ssd());
        assertEquals(30, result.ssd().writes());
        assertEquals(SSD_READ_MILLIS, result.reads().maxMs(), 0.001);
    }

    @Test
    void requestsThatComeFasterThanTheyAreServedWait() throws IOException {
        int requests = 20_000;
        SystemResult result = replay(reads(requests, 1000), new Window(0, SECOND), 1);
        assertEquals(requests, result.reads().requests());
        // Two at once, each followed by its write: the last one is done when nearly all the others are.
        assertTrue(result.reads().maxMs() > 0.5 * requests * SSD_READ_MILLIS, () -> result.reads() + "");
        // No more than a host keeps under way are at the device, and their writes.
        assertTrue(result.ssd().deepestQueue() <= 2 * 10_000, () -> result.ssd() + "");
    }

    @Test
    void aSlowerReplayTakesLonger() throws IOException {
        Window window = new Window(0, 100 * SECOND);
        double normal = replay(reads(30, SECOND), window, 1).joules();
        double slow = replay(reads(30, SECOND), window, 2).joules();
        assertEquals(2, slow / normal, 0.01);
    }

    @Test
    void aTraceThatCantBeReadIsAnErrorAsItIs() {
        BlockTrace good = reads(3, 1000);
        BlockTrace broken = into -> {
            if (!good.next(into)) {
                throw new IOException("trace, line 4: rubbish");
            }
            return true;
        };
        IOException refused = assertThrows(IOException.class, () -> replay(broken, new Window(0, SECOND), 1));
        assertEquals("trace, line 4: rubbish", refused.getMessage());
    }
}
