package org.opendedup.sar.ssd;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SpaceLimitsTest {
    /** Tolerance for rounding: a hundredth of the live bytes and a capacity's last part. */
    private static final long ROUNDING_BYTES = 400;

    @Test
    void theCapacityForSomeBytesIsTheLeastThatHasRoomForThem() {
        for (long live = 1; live < 1L << 44; live = live * 3 + 1) {
            long capacity = SpaceLimits.capacityFor(live);
            long bytes = live;
            assertTrue(liveBytes(capacity + ROUNDING_BYTES) >= live, () -> bytes + " in " + capacity);
            assertTrue(liveBytes(capacity - ROUNDING_BYTES) < live, () -> bytes + " in less than " + capacity);
        }
    }

    private static long liveBytes(long capacity) {
        return new SpaceLimits(capacity, 0, Long.MAX_VALUE).liveBytes();
    }
}
