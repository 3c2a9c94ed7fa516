package org.opendedup.sar.sim.estimate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;

class ChunkSampleTest {
    private static final int LENGTH = 100;

    private final Random random = new Random(TestSeed.next());

    @Test
    void withRoomForAllItCountsEveryChunkAndItsReferences() {
        var sample = new ChunkSample(64 << 20, 1);
        Map<Long, Integer> model = new HashMap<>();
        for (int i = 0; i < 200_000; i++) {
            long fingerprint = random.nextInt(60_000);
            refer(sample, fingerprint);
            model.merge(fingerprint, 1, Integer::sum);
        }
        assertEquals(1, sample.share());
        assertEquals(model.size(), sample.size());
        Map<Integer, Long> chunks = new HashMap<>();
        model.values().forEach(count -> chunks.merge(count, 1L, Long::sum));
        for (ChunkSample.CountClass each : sample.classes()) {
            assertEquals(chunks.remove(each.count()), each.chunks());
            assertEquals(each.chunks() * LENGTH, each.bytes());
        }
        assertTrue(chunks.isEmpty(), chunks::toString);
    }

    @Test
    void aSampleThatWasThinnedStillCountsEveryReferenceToWhatItHas() {
        var sample = new ChunkSample(64 << 10, 2);
        for (int round = 0; round < 3; round++) {
            for (long fingerprint = 0; fingerprint < 50_000; fingerprint++) {
                refer(sample, fingerprint);
            }
        }
        assertTrue(sample.share() < 1.0 / 16, () -> "share " + sample.share());
        List<ChunkSample.CountClass> classes = sample.classes();
        assertEquals(1, classes.size());
        assertEquals(3, classes.get(0).count());
        assertEquals(sample.size(), classes.get(0).chunks());
        double error = new References(sample, 150_000L * LENGTH).chunks(1).standardError();
        assertEquals(50_000, sample.size() / sample.share(), 5 * error);
    }

    @Test
    void anotherSeedIsAnotherSample() {
        var one = new ChunkSample(16 << 10, 1);
        var other = new ChunkSample(16 << 10, 2);
        for (long fingerprint = 0; fingerprint < 10_000; fingerprint++) {
            refer(one, fingerprint);
            refer(other, fingerprint);
        }
        int both = 0;
        for (long fingerprint = 0; fingerprint < 10_000; fingerprint++) {
            boolean inOne = one.covers(one.hash(fingerprint));
            both += inOne && other.covers(other.hash(fingerprint)) ? 1 : 0;
        }
        assertFalse(both > one.size() / 2, both + " of " + one.size());
    }

    /** The share of reads of a chunk with very many references is right even if the sample lacks it. */
    @Test
    void oneChunkWithVeryManyReferencesDoesNotSpoilTheShares() {
        for (int seed = 0; seed < 8; seed++) {
            var sample = new ChunkSample(64 << 10, seed);
            for (int i = 0; i < 50_000; i++) {
                refer(sample, random.nextLong());
                refer(sample, 1);
            }
            Figure share = new References(sample, 100_000L * LENGTH).readShare(2);
            assertEquals(0.5, share.value(), 5 * share.standardError());
            assertTrue(share.standardError() < 0.02, share::toString);
        }
    }

    private static void refer(ChunkSample sample, long fingerprint) {
        long hash = sample.hash(fingerprint);
        if (sample.covers(hash) && sample.refer(hash) == ChunkSample.NONE) {
            sample.add(hash, LENGTH, 0);
        }
    }
}
