package org.opendedup.sar.volume.node;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class StoreAttemptsTest {
    private static final long LATE_NS = StoreAttempts.MIN_NS;
    private static final long FIRST_NS = Long.MAX_VALUE - 10;

    private final StoreAttempts attempts = new StoreAttempts();

    private void fail(int times, long offset, long nowNs) {
        for (int i = 0; i < times; i++) {
            assertFalse(attempts.failed(offset, nowNs), "attempt " + i);
        }
    }

    @Test
    void aBurstOfErrorsGivesNothingUp() {
        fail(1000, 7, FIRST_NS);
        assertTrue(attempts.haveFailed());
    }

    @Test
    void bytesAreGivenUpAfterEnoughAttemptsAndTime() {
        fail(StoreAttempts.MIN_ATTEMPTS - 1, 7, FIRST_NS);
        assertTrue(attempts.failed(7, FIRST_NS + LATE_NS));
        assertFalse(attempts.haveFailed());
        fail(StoreAttempts.MIN_ATTEMPTS - 1, 7, FIRST_NS + LATE_NS);
    }

    @Test
    void aFewLateErrorsGiveNothingUp() {
        fail(1, 7, FIRST_NS);
        fail(StoreAttempts.MIN_ATTEMPTS - 2, 7, FIRST_NS + LATE_NS);
    }

    /** A program that keeps writing elsewhere in the file would keep the bytes for ever. */
    @Test
    void successElsewhereMakesNoDifference() {
        fail(StoreAttempts.MIN_ATTEMPTS - 1, 7, FIRST_NS);
        attempts.succeeded(0, 7);
        attempts.succeeded(8, 100);
        assertTrue(attempts.failed(7, FIRST_NS + LATE_NS));
    }

    @Test
    void successEndsTheRow() {
        fail(StoreAttempts.MIN_ATTEMPTS - 1, 7, FIRST_NS);
        attempts.succeeded(0, 8);
        assertFalse(attempts.haveFailed());
        fail(1, 7, FIRST_NS + LATE_NS);
    }

    @Test
    void anotherPlaceBeginsAnotherRow() {
        fail(StoreAttempts.MIN_ATTEMPTS - 1, 7, FIRST_NS);
        fail(StoreAttempts.MIN_ATTEMPTS - 1, 8, FIRST_NS + LATE_NS);
    }

    /** The bytes that failed long ago were truncated, and others were written there. */
    @Test
    void errorsOfLongAgoDoNotCount() {
        fail(StoreAttempts.MIN_ATTEMPTS - 1, 7, FIRST_NS);
        fail(StoreAttempts.MIN_ATTEMPTS - 1, 7, FIRST_NS + 3 * LATE_NS);
    }
}
