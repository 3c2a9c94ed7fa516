package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;

/** Which frames are compressed on trial, by sequences of frames of which is known whether they shrink. */
class CompressionTrialTest {
    private static final int FRAME = 64 << 10;
    private static final int MAX_UNTRIED = 512 << 10;

    private final CompressionTrial trial = new CompressionTrial();
    /** Bytes stored raw since the last frame that was seen to shrink. */
    private long sequence;
    /** The sequence at the last trial, and the bytes stored untried since. */
    private long sequenceTried;

    private long untried;
    private long lost;

    /** Gives a frame to the policy; returns whether it was tried. Checks the bounds. */
    private boolean next(int bytes, boolean shrinks) {
        if (trial.isDue(bytes)) {
            trial.tried(bytes, shrinks);
            sequence = shrinks ? 0 : sequence + bytes;
            sequenceTried = sequence;
            untried = 0;
            return true;
        }
        untried += bytes;
        sequence += bytes;
        lost += shrinks ? bytes : 0;
        assertTrue(untried <= MAX_UNTRIED, () -> untried + " bytes untried");
        assertTrue(untried * 16 <= sequenceTried, () -> untried + " bytes untried after " + sequenceTried);
        return false;
    }

    private int tried(int frames, boolean shrink) {
        int tried = 0;
        for (int i = 0; i < frames; i++) {
            tried += next(FRAME, shrink) ? 1 : 0;
        }
        return tried;
    }

    @Test
    void whatShrinksIsAlwaysTried() {
        assertEquals(1000, tried(1000, true));
    }

    @Test
    void shortSequencesThatDoNotShrinkAreTried() {
        for (int i = 0; i < 100; i++) {
            assertEquals(16, tried(16, false));
            // Only the first frame that shrinks may be stored raw: the sequence was long enough for one.
            assertFalse(next(FRAME, true));
            assertTrue(next(FRAME, true));
        }
        for (int i = 0; i < 100; i++) {
            assertEquals(15, tried(15, false));
            assertEquals(1, tried(1, true));
        }
    }

    @Test
    void theTrialsGetFewer() {
        assertEquals(16, tried(16, false));
        assertEquals(8, tried(16, false), "every second");
        tried(96, false);
        int later = tried(900, false);
        assertEquals(100, later, "every ninth");
    }

    @Test
    void whatShrinksIsTriedAgainAfterALongSequence() {
        tried(100_000, false);
        int untried = 0;
        while (!next(FRAME, true)) {
            untried++;
        }
        assertTrue(untried <= MAX_UNTRIED / FRAME, untried + " frames");
        assertEquals(1000, tried(1000, true));
        assertEquals(16, tried(16, false), "the next sequence begins anew");
    }

    @Test
    void largeFramesAreBoundInBytes() {
        for (int i = 0; i < 10_000; i++) {
            next(256 << 10, false);
        }
        int untried = 0;
        while (!next(256 << 10, true)) {
            untried++;
        }
        assertTrue(untried <= 2, untried + " frames");
        // A frame above the bound is always tried.
        for (int i = 0; i < 100; i++) {
            assertTrue(next(MAX_UNTRIED + 1, false));
        }
    }

    /** At most a sixteenth of each sequence is lost; with random borders about half of that, of what would shrink. */
    @RepeatedTest(20)
    void theLossIsBounded() {
        Random random = new Random(TestSeed.next());
        long raw = 0;
        for (int part = 0; part < 200; part++) {
            boolean shrinks = part % 2 == 1;
            for (int frames = random.nextInt(1 << random.nextInt(12)); frames >= 0; frames--) {
                int bytes = 1 + random.nextInt(random.nextInt(10) == 0 ? 256 << 10 : FRAME);
                next(bytes, shrinks);
                raw += shrinks ? 0 : bytes;
            }
        }
        long total = raw;
        assertTrue(lost * 16 <= total + lost, () -> lost + " bytes lost after " + total);
    }
}
