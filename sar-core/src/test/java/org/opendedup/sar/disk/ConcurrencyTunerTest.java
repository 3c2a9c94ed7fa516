package org.opendedup.sar.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;

final class ConcurrencyTunerTest {
    private static final int REQUEST_BYTES = 512 << 10;

    private final long seed = TestSeed.next();
    private final Random random = new Random(seed);

    /** Rate in MB/s, by the number of simultaneous readers. */
    @FunctionalInterface
    private interface Device {
        double rate(int readers);
    }

    /** One arm: with two readers each request costs a seek, with one reader only some do. */
    private static final Device HDD = readers -> readers == 1 ? 120 : 55;
    /** The waiting times of several readers overlap, up to the rate of the bus. */
    private static final Device SSD = readers -> Math.min(500, 150 * readers);

    private static final Device EIGHT_DISKS = readers -> 100 * readers;
    /** More readers gain nothing. */
    private static final Device FLAT = readers -> 300 + readers;

    /**
     * Lets a device serve {@code readers} for a number of seconds. Returns the seconds with more than one reader at
     * once.
     */
    private double serve(ConcurrencyTuner tuner, Device device, int readers, double seconds, boolean cached) {
        double passed = 0;
        double crowded = 0;
        while (passed < seconds) {
            int inside = Math.min(readers, tuner.requests());
            double noise = 0.95 + 0.1 * random.nextDouble();
            double took = REQUEST_BYTES / 1e6 / device.rate(inside) * noise;
            if (inside == tuner.requests()) {
                tuner.addTime(Math.round(took * 1e9));
                tuner.addRequest(REQUEST_BYTES, !cached, readers);
            }
            passed += took;
            crowded += inside > 1 ? took : 0;
        }
        return crowded;
    }

    @Test
    void aHardDiskIsLeftToOneReaderAtATime() {
        ConcurrencyTuner tuner = new ConcurrencyTuner(1, false);
        double crowded = serve(tuner, HDD, 8, 3600, false);
        assertTrue(crowded < 3600 / 50, "sar.seed=" + seed + ": " + crowded);
        // It was tried.
        assertTrue(crowded > 0, "sar.seed=" + seed);
    }

    @Test
    void aHardDiskThatWasTakenForAnotherIsFoundOut() {
        ConcurrencyTuner tuner = new ConcurrencyTuner(8, false);
        serve(tuner, HDD, 8, 120, false);
        double crowded = serve(tuner, HDD, 8, 3600, false);
        assertTrue(crowded < 3600 / 50, "sar.seed=" + seed + ": " + crowded);
    }

    @Test
    void anSsdIsGivenAsManyAsItIsFasterWith() {
        ConcurrencyTuner tuner = new ConcurrencyTuner(1, false);
        serve(tuner, SSD, 16, 60, false);
        assertEquals(4, settled(tuner, SSD, 16), "sar.seed=" + seed);
    }

    @Test
    void manyDisksAreGivenManyAndNoMoreThanThereMayBe() {
        ConcurrencyTuner tuner = new ConcurrencyTuner(1, false);
        serve(tuner, EIGHT_DISKS, 100, 60, false);
        assertEquals(ConcurrencyTuner.MAX_REQUESTS, settled(tuner, EIGHT_DISKS, 100), "sar.seed=" + seed);
    }

    @Test
    void whereMoreGainsNothingOneIsEnough() {
        ConcurrencyTuner tuner = new ConcurrencyTuner(4, false);
        serve(tuner, FLAT, 16, 120, false);
        assertEquals(1, settled(tuner, FLAT, 16), "sar.seed=" + seed);
    }

    @Test
    void withoutReadersThatWaitNothingIsTried() {
        ConcurrencyTuner tuner = new ConcurrencyTuner(1, false);
        serve(tuner, EIGHT_DISKS, 1, 600, false);
        assertEquals(1, tuner.requests(), "sar.seed=" + seed);
    }

    @Test
    void whatTheCacheGivesTellsNothing() {
        ConcurrencyTuner tuner = new ConcurrencyTuner(1, false);
        assertEquals(0, serve(tuner, EIGHT_DISKS, 8, 600, true), "sar.seed=" + seed);
    }

    /** The number of readers for most of the time; trials are short. */
    private int settled(ConcurrencyTuner tuner, Device device, int readers) {
        int[] seen = new int[ConcurrencyTuner.MAX_REQUESTS + 1];
        for (int i = 0; i < 101; i++) {
            serve(tuner, device, readers, 1, false);
            seen[tuner.requests()]++;
        }
        int most = 0;
        for (int i = 0; i < seen.length; i++) {
            most = seen[i] > seen[most] ? i : most;
        }
        return most;
    }
}
