package org.opendedup.sar.index.silo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.index.TestSegments;

class RepresentativeTest {
    @Test
    void theLowestFingerprintRepresentsAndZeroRunsDoNot() {
        Segment segment = new Segment(4096);
        segment.add(0, 4096, true);
        assertEquals(-1, Representative.of(segment, 0, segment.count()));
        segment.add(0, 4096, false);
        segment.add(0, 4096, false);
        segment.add(0, 4096, false);
        byte[] fingerprints = segment.fingerprints();
        Arrays.fill(fingerprints, 32, 64, (byte) 0x80);
        Arrays.fill(fingerprints, 64, 96, (byte) 0x7f);
        Arrays.fill(fingerprints, 96, 128, (byte) 0x7f);
        assertEquals(
                2,
                Representative.of(segment, 0, segment.count()),
                "bytes are unsigned, and the first of equal ones counts");
        fingerprints[127] = 0x7e;
        assertEquals(3, Representative.of(segment, 0, segment.count()), "all bytes count");
    }

    /** Broder's theorem, equation 1 of the paper: 100 of 300 chunks are shared, so that is one in three pairs. */
    @Test
    void segmentsShareTheirRepresentativeWithTheProbabilityOfTheirResemblance() {
        long seed = TestSeed.next();
        int trials = 3000;
        int same = 0;
        for (int trial = 0; trial < trials; trial++) {
            Segment first = TestSegments.of(seed + 1000L * trial, 200);
            Segment second = TestSegments.of(seed + 1000L * trial + 100, 200);
            long key = Representative.key(first.fingerprints(), 32 * Representative.of(first, 0, first.count()));
            same += key == Representative.key(second.fingerprints(), 32 * Representative.of(second, 0, second.count()))
                    ? 1
                    : 0;
        }
        // Five standard deviations.
        assertEquals(trials / 3.0, same, 5 * Math.sqrt(trials * 2 / 9.0), "seed " + seed);
    }
}
