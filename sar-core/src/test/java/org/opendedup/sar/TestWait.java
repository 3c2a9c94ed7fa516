package org.opendedup.sar;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;

/** Waits of tests for what other threads do. */
public final class TestWait {
    /** What is waited for. */
    @FunctionalInterface
    public interface Condition {
        boolean holds() throws Exception;
    }

    private TestWait() {}

    /** Returns when a condition holds; fails after a minute. */
    public static void until(Condition condition) {
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        try {
            while (!condition.holds()) {
                assertTrue(System.nanoTime() < deadline, "not within a minute");
                Thread.sleep(1);
            }
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
