package org.opendedup.sar.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.disk.DiskEstimator.Kind;

final class DiskEstimatorTest {
    private final long seed = TestSeed.next();
    private final Random random = new Random(seed);

    /** Request times of a synthetic device. */
    private record Device(double skipMillis, double seekMillis, double spreadMillis, double megabytesPerSecond) {
        long nanos(Kind kind, int bytes, Random random) {
            double place = switch (kind) {
                case CONTINUES -> 0;
                case SKIPS -> skipMillis + spreadMillis * (random.nextDouble() - 0.5);
                case SEEKS -> seekMillis + spreadMillis * (random.nextDouble() - 0.5);
            };
            return Math.round(place * 1e6 + bytes * 1e3 / megabytesPerSecond);
        }
    }

    private static final List<Kind> KINDS = List.of(Kind.values());

    /** Plus or minus half a rotation. */
    private static final Device HDD = new Device(5.5, 9, 8.3, 150);

    private static final Device NVME = new Device(0.08, 0.1, 0.02, 3000);

    /** A hard disk beside which another program works now and then. */
    private DiskModel measured(DiskEstimator estimator, Device device, int requests, double outliers) {
        for (int i = 0; i < requests; i++) {
            Kind kind = KINDS.get(random.nextInt(KINDS.size()));
            int bytes = (64 << 10) * (1 + random.nextInt(40));
            long nanos = device.nanos(kind, bytes, random);
            boolean isOutlier = random.nextDouble() < outliers;
            estimator.add(kind, bytes, isOutlier ? nanos + random.nextInt(100_000_000) : nanos);
        }
        return estimator.model();
    }

    private void assertNear(Device expected, DiskModel model, double tolerance) {
        String told = "sar.seed=" + seed + ": " + model;
        assertEquals(DiskModel.Source.MEASURED, model.source(), told);
        assertEquals(1, model.bytesPerSecond() / expected.megabytesPerSecond / 1e6, tolerance, told);
        double slack = tolerance * (expected.skipMillis + expected.spreadMillis / 2);
        assertEquals(expected.skipMillis, model.skipNanos() / 1e6, slack, told);
        assertEquals(expected.seekMillis, model.seekNanos() / 1e6, slack, told);
    }

    @Test
    void aDiskIsFoundOutWhateverItWasTakenFor() {
        for (DiskModel taken : List.of(DiskModel.HDD, DiskModel.SSD)) {
            assertNear(HDD, measured(new DiskEstimator(taken), HDD, 1000, 0), 0.4);
            assertNear(NVME, measured(new DiskEstimator(taken), NVME, 1000, 0), 0.4);
        }
    }

    @Test
    void aFewRequestsThatTookVeryLongChangeLittle() {
        assertNear(HDD, measured(new DiskEstimator(DiskModel.HDD), HDD, 1000, 0.1), 0.5);
        assertNear(NVME, measured(new DiskEstimator(DiskModel.HDD), NVME, 1000, 0.1), 0.5);
    }

    @Test
    void whatWasIsForgotten() {
        DiskEstimator estimator = new DiskEstimator(DiskModel.HDD);
        measured(estimator, HDD, 300, 0);
        assertNear(NVME, measured(estimator, NVME, 1000, 0), 0.4);
    }

    @Test
    void aFewRequestsAreNotBelieved() {
        DiskEstimator estimator = new DiskEstimator(DiskModel.HDD);
        assertSame(DiskModel.HDD, measured(estimator, NVME, 15, 0));
    }

    @Test
    void requestsOfAboutOneSizeTellNothing() {
        DiskEstimator estimator = new DiskEstimator(DiskModel.HDD);
        for (int i = 0; i < 500; i++) {
            int bytes = (3 << 20) + random.nextInt(1 << 20);
            estimator.add(Kind.SEEKS, bytes, HDD.nanos(Kind.SEEKS, bytes, random));
        }
        assertSame(DiskModel.HDD, estimator.model());
    }

    @Test
    void withoutSkipsTheyFollowTheSeeks() {
        DiskEstimator estimator = new DiskEstimator(DiskModel.HDD);
        for (int i = 0; i < 200; i++) {
            int bytes = (64 << 10) * (1 + random.nextInt(40));
            estimator.add(Kind.SEEKS, bytes, NVME.nanos(Kind.SEEKS, bytes, random));
        }
        assertTrue(estimator.model().skipNanos() < 100_000, "sar.seed=" + seed + ": " + estimator.model());
    }
}
