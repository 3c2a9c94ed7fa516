package org.opendedup.sar.index.rocksdb;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.index.TestSegments;

class FingerprintCacheTest {
    @Test
    void theOldestEntryMakesRoom() {
        FingerprintCache cache = new FingerprintCache(3L * FingerprintCache.ENTRY_BYTES);
        for (int i = 0; i < 4; i++) {
            cache.put(TestSegments.fingerprint(i), 0, ChunkId.of(1, i));
        }

        assertEquals(ChunkId.NONE, cache.get(TestSegments.fingerprint(0), 0));
        assertEquals(ChunkId.of(1, 1), cache.get(TestSegments.fingerprint(1), 0));
        assertEquals(ChunkId.of(1, 3), cache.get(TestSegments.fingerprint(3), 0));
    }

    @Test
    void whatIsPutTakesTheOldIdsPlaceAndWhatIsPutIfAbsentDoesNot() {
        FingerprintCache cache = new FingerprintCache(1000);
        byte[] fingerprint = TestSegments.fingerprint(1);
        cache.putIfAbsent(fingerprint, 0, ChunkId.of(1, 1));
        cache.put(fingerprint, 0, ChunkId.of(2, 2));
        cache.putIfAbsent(fingerprint, 0, ChunkId.of(3, 3));

        assertEquals(ChunkId.of(2, 2), cache.get(fingerprint, 0));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRingOfAnySizeDoesAsAMapInInsertionOrderDoes(boolean inOneBucket) {
        long seed = TestSeed.next();
        Random random = new Random(seed);
        for (int capacity : new int[] {1, 2, 7, 64, 100}) {
            FingerprintCache cache = new FingerprintCache((long) capacity * FingerprintCache.ENTRY_BYTES);
            Map<Integer, Long> model = new LinkedHashMap<>() {
                @Override
                protected boolean removeEldestEntry(Map.Entry<Integer, Long> eldest) {
                    return size() > capacity;
                }
            };
            for (int step = 0; step < 5000; step++) {
                int number = random.nextInt(3 * capacity);
                long chunkId = ChunkId.of(1 + random.nextInt(3), 0);
                cache.put(fingerprint(number, inOneBucket), 0, chunkId);
                model.put(number, chunkId);
                int asked = random.nextInt(3 * capacity);
                assertEquals(
                        model.getOrDefault(asked, ChunkId.NONE),
                        cache.get(fingerprint(asked, inOneBucket), 0),
                        "seed " + seed);
            }
        }
    }

    /** @param inOneBucket whether all have the bytes that select a bucket in common */
    private static byte[] fingerprint(int number, boolean inOneBucket) {
        byte[] fingerprint = TestSegments.fingerprint(number);
        if (inOneBucket) {
            Arrays.fill(fingerprint, 8, fingerprint.length, (byte) 5);
        }
        return fingerprint;
    }

    @Test
    void aRemovedEntryIsGoneOnlyIfItLedToThatCopyAndItsPlaceIsUsedAgain() {
        FingerprintCache cache = new FingerprintCache(2L * FingerprintCache.ENTRY_BYTES);
        byte[] first = TestSegments.fingerprint(1);
        cache.put(first, 0, ChunkId.of(1, 1));
        cache.remove(first, 0, ChunkId.of(1, 2));
        assertEquals(ChunkId.of(1, 1), cache.get(first, 0));
        cache.remove(first, 0, ChunkId.of(1, 1));
        assertEquals(ChunkId.NONE, cache.get(first, 0));
        for (int i = 0; i < 10; i++) {
            cache.put(first, 0, ChunkId.of(2, i));
            cache.put(TestSegments.fingerprint(2 + i), 0, ChunkId.of(3, i));
            cache.remove(first, 0, ChunkId.of(2, i));
            assertEquals(ChunkId.NONE, cache.get(first, 0));
            assertEquals(ChunkId.of(3, i), cache.get(TestSegments.fingerprint(2 + i), 0));
        }
    }
}
