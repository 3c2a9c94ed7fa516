package org.opendedup.sar.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RaidTest {
    private static final long UNIT = 100;

    private final Simulation simulation = new Simulation();
    private final List<String> log = new ArrayList<>();

    private List<Device> devices(int count) {
        List<Device> devices = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            devices.add(new FakeDevice(simulation, "d" + i, 10_050, log));
        }
        return devices;
    }

    private long run(Device array, Transfer transfer) {
        long[] done = {-1};
        array.submit(transfer, () -> done[0] = simulation.nowNanos() / 1_000_000);
        simulation.run();
        return done[0];
    }

    @Test
    void raid5IsLeftSymmetric() {
        Raid5Layout layout = new Raid5Layout(4, UNIT);
        // Parity of four stripes, then the disks of the units of data in their order.
        int[] parity = {3, 2, 1, 0};
        int[] data = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
        for (int stripe = 0; stripe < 4; stripe++) {
            assertEquals(parity[stripe], layout.parityDisk(stripe));
        }
        for (int unit = 0; unit < data.length; unit++) {
            assertEquals(data[unit], layout.dataDisk(unit), "unit " + unit);
        }
    }

    @Test
    void noTwoUnitsOfRaid5LieAtOnePlaceAndNoneWhereParityLies() {
        Raid5Layout layout = new Raid5Layout(8, UNIT);
        Set<String> places = new HashSet<>();
        for (long unit = 0; unit < 7 * 20; unit++) {
            long stripe = layout.stripe(unit);
            assertNotEquals(layout.parityDisk(stripe), layout.dataDisk(unit));
            assertTrue(places.add(layout.dataDisk(unit) + ":" + layout.diskOffset(stripe)));
        }
    }

    @Test
    void aSmallWriteOfRaid5ReadsOldDataAndParityFirst() {
        Raid5 array = new Raid5(devices(4), UNIT);
        assertEquals(2, run(array, Transfer.write(110, 40)));
        assertEquals(
                List.of("0ms d1 read 10+40", "0ms d3 read 10+40", "1ms d1 write 10+40", "1ms d3 write 10+40"), log);
    }

    @Test
    void parityOfAWriteOverTwoUnitsSpansWhatChangesInEither() {
        Raid5 array = new Raid5(devices(4), UNIT);
        run(array, Transfer.write(90, 30));
        assertEquals(List.of("0ms d0 read 90+10", "0ms d1 read 0+20", "0ms d3 read 0+100"), log.subList(0, 3));
    }

    @Test
    void aWholeStripeIsWrittenWithoutReading() {
        Raid5 array = new Raid5(devices(4), UNIT);
        assertEquals(1, run(array, Transfer.write(300, 300)));
        assertEquals(
                List.of("0ms d3 write 100+100", "0ms d0 write 100+100", "0ms d1 write 100+100", "0ms d2 write 100+100"),
                log);
    }

    @Test
    void aReadOfRaid5TouchesNoParity() {
        Raid5 array = new Raid5(devices(4), UNIT);
        assertEquals(1, run(array, Transfer.read(250, 100)));
        assertEquals(List.of("0ms d2 read 50+50", "0ms d3 read 100+50"), log);
    }

    @Test
    void raid0GoesOverTheDevicesInTurn() {
        Raid0 array = new Raid0(devices(3), UNIT);
        assertEquals(1, run(array, Transfer.write(250, 100)));
        assertEquals(List.of("0ms d2 write 50+50", "0ms d0 write 100+50"), log);
    }

    @Test
    void aTransferBeyondTheEndIsRefused() {
        Raid5 array = new Raid5(devices(4), UNIT);
        assertEquals(100 * 3 * UNIT, array.capacityBytes());
        assertThrows(IllegalArgumentException.class, () -> run(array, Transfer.read(array.capacityBytes() - 1, 2)));
        assertTrue(log.isEmpty());
    }
}
