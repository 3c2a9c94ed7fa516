package org.opendedup.sar.volume.raw;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InterruptedIOException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class BackgroundThrottleTest {
    private static final long MS = 1_000_000;

    private final AtomicLong uses = new AtomicLong();
    private long now = 1;
    private long slept;
    private final BackgroundThrottle throttle = new BackgroundThrottle(uses::get, new BackgroundThrottle.Clock() {
        @Override
        public long nanos() {
            return now;
        }

        @Override
        public void sleep(long nanos) {
            slept += nanos;
            now += nanos;
        }
    });

    @Test
    void nothingRestsWhileNobodyUsesTheVolume() throws InterruptedIOException {
        BackgroundThrottle.Piece piece = throttle.begin();
        now += 10 * MS;
        piece.next();
        assertEquals(0, slept);
        assertFalse(throttle.isYielding());
    }

    @Test
    void besideAProgramItRestsForAMultipleOfEachPiece() throws InterruptedIOException {
        BackgroundThrottle.Piece piece = throttle.begin();
        uses.incrementAndGet();
        now += 10 * MS;
        piece.next();
        assertEquals(BackgroundThrottle.REST * 10 * MS, slept);
        assertTrue(throttle.isYielding());
        now += 4 * MS;
        piece.next();
        assertEquals(BackgroundThrottle.REST * 14 * MS, slept);
    }

    @Test
    void aPieceThatTookLongRestsForABoundedTime() throws InterruptedIOException {
        BackgroundThrottle.Piece piece = throttle.begin();
        uses.incrementAndGet();
        now += 5000 * MS;
        piece.next();
        assertEquals(BackgroundThrottle.MAX_REST_NS, slept);
    }

    @Test
    void itGoesOnAMomentAfterTheLastUse() throws InterruptedIOException {
        uses.incrementAndGet();
        assertTrue(throttle.isYielding());
        now += BackgroundThrottle.ACTIVE_NS;
        BackgroundThrottle.Piece piece = throttle.begin();
        now += MS;
        piece.next();
        assertEquals(0, slept);
    }

    @Test
    void nothingRestsInAHurry() throws InterruptedIOException {
        throttle.setHurried(true);
        BackgroundThrottle.Piece piece = throttle.begin();
        uses.incrementAndGet();
        now += 10 * MS;
        piece.next();
        assertEquals(0, slept);
        throttle.setHurried(false);
        uses.incrementAndGet();
        now += 10 * MS;
        piece.next();
        assertEquals(BackgroundThrottle.REST * 10 * MS, slept);
    }
}
