package org.opendedup.sar.join;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;

/** The estimate of what is stored more than once. */
class LossSampleTest {
    private static final int CHUNKS = 100_000;
    private static final int LENGTH = 8192;

    private final SplittableRandom random = new SplittableRandom(TestSeed.next());

    private byte[] fingerprints(int count) {
        byte[] made = new byte[count * Fingerprints.BYTES];
        random.nextBytes(made);
        return made;
    }

    private static void add(LossSample sample, byte[] fingerprints, int from, int to) {
        for (int chunk = from; chunk < to; chunk++) {
            sample.add(fingerprints, chunk * Fingerprints.BYTES, LENGTH);
        }
    }

    @Test
    void aSmallVolumeIsCountedExactly() {
        LossSample sample = new LossSample(5);
        byte[] fingerprints = fingerprints(1000);
        add(sample, fingerprints, 0, 1000);
        assertEquals(0, sample.estimate().bytes());
        add(sample, fingerprints, 100, 400);
        add(sample, fingerprints, 100, 200);
        assertEquals(400 * LENGTH, sample.estimate().bytes());
        for (int chunk = 100; chunk < 150; chunk++) {
            sample.remove(fingerprints, chunk * Fingerprints.BYTES);
        }
        assertEquals(350 * LENGTH, sample.estimate().bytes());
        assertFalse(sample.estimate().isWhole());
        assertEquals(5, sample.estimate().sinceMs());
    }

    @Test
    void aLargeOneIsEstimatedFromASample() {
        LossSample sample = new LossSample(0, 2000);
        byte[] fingerprints = fingerprints(CHUNKS);
        add(sample, fingerprints, 0, CHUNKS / 2);
        add(sample, fingerprints, 0, CHUNKS / 4);
        add(sample, fingerprints, CHUNKS / 2, CHUNKS);
        double expected = CHUNKS / 4.0 * LENGTH;
        // Some 400 of the sampled ones are there twice: five standard deviations are a quarter.
        assertEquals(expected, sample.estimate().bytes(), expected / 4);
    }

    @Test
    void whatIsComparedIsNotCountedTwice() {
        LossSample sample = new LossSample(0);
        byte[] fingerprints = fingerprints(2);
        sample.written(fingerprints, 0, LENGTH, ChunkId.of(7, 0));
        sample.restart(10, 3);
        add(sample, fingerprints, 0, 1);
        // Its container is older than the pass, and has been read.
        sample.written(fingerprints, 0, LENGTH, ChunkId.of(9, 0));
        sample.compared();
        assertEquals(0, sample.estimate().bytes());
        assertTrue(sample.estimate().isWhole());
        sample.written(fingerprints, 0, LENGTH, ChunkId.of(10, 0));
        assertEquals(LENGTH, sample.estimate().bytes());
    }
}
