package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.volume.chunks.ChunkVolume;

/** Many threads put, claim and read the same contents while others sync and collect. */
@Timeout(180)
class ChunkVolumeConcurrencyTest {
    private static final int CONTENTS = 400;
    private static final int WRITERS = 4;
    private static final int STEPS = 2500;

    private final long seed = TestSeed.next();

    @Test
    void countsStayExactAndNothingInUseIsCollected() throws Exception {
        ChunkTrial trial = ChunkTrial.create(new CrashDirectory(seed));
        List<Map<Long, Integer>> expected = new ArrayList<>();
        for (int number = 0; number < CONTENTS; number++) {
            expected.add(new ConcurrentHashMap<>());
        }
        AtomicBoolean ends = new AtomicBoolean();
        ExecutorService threads = Executors.newFixedThreadPool(WRITERS + 2);
        try (ChunkVolume volume = trial.open()) {
            List<Future<?>> others = new ArrayList<>();
            others.add(threads.submit(() -> {
                while (!ends.get()) {
                    volume.sync();
                }
                return null;
            }));
            others.add(threads.submit(() -> {
                while (!ends.get()) {
                    trial.passGrace();
                    volume.collect(new CollectionLimits(0, false), (done, of, returned) -> true);
                }
                return null;
            }));
            List<Future<?>> writers = new ArrayList<>();
            for (int i = 0; i < WRITERS; i++) {
                long own = seed + i;
                writers.add(threads.submit(() -> {
                    write(volume, own, expected);
                    return null;
                }));
            }
            for (Future<?> writer : writers) {
                writer.get(150, TimeUnit.SECONDS);
            }
            ends.set(true);
            for (Future<?> other : others) {
                other.get(30, TimeUnit.SECONDS);
            }
            trial.passGrace();
            volume.collect(new CollectionLimits(0, false), (done, of, returned) -> true);
            int stored = 0;
            for (int number = 0; number < CONTENTS; number++) {
                byte[] chunk = ChunkTrial.chunk(number);
                // Two locations, if a collection was about to remove the chunk: a writer that had looked it up before
                // keeps it, and one that looked afterwards stores another copy.
                Map<Long, Integer> referenced = new TreeMap<>(expected.get(number));
                referenced.values().removeIf(references -> references == 0);
                Map<Long, Integer> counted = new TreeMap<>();
                for (long location : referenced.keySet()) {
                    counted.put(location, volume.references(location));
                    assertArrayEquals(chunk, volume.get(ChunkTrial.fingerprint(chunk), location));
                }
                assertEquals(referenced, counted, "chunk " + number);
                stored += referenced.size();
                if (!referenced.isEmpty()) {
                    long found = volume.find(ChunkTrial.fingerprint(chunk));
                    // The second copy, to which the index led, may be gone before the first.
                    boolean isLost = found == ChunkVolume.NOT_FOUND
                            && expected.get(number).size() > 1;
                    assertTrue(isLost || referenced.containsKey(found), () -> referenced + " do not have " + found);
                }
            }
            assertEquals(stored, volume.statistics().chunks(), "no copy but these, and no garbage");
        } finally {
            threads.shutdownNow();
        }
    }

    /** All of them look the content up before one has stored it. */
    @Test
    void aContentThatThreadsBringAtTheSameTimeIsStoredOnce() throws Exception {
        ChunkTrial trial = ChunkTrial.create(new CrashDirectory(seed));
        ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
        CyclicBarrier start = new CyclicBarrier(WRITERS);
        try (ChunkVolume volume = trial.open()) {
            List<Future<?>> writers = new ArrayList<>();
            for (int i = 0; i < WRITERS; i++) {
                writers.add(threads.submit(() -> {
                    for (int number = 0; number < STEPS; number++) {
                        byte[] chunk = ChunkTrial.chunk(number);
                        byte[] fingerprint = ChunkTrial.fingerprint(chunk);
                        start.await(60, TimeUnit.SECONDS);
                        volume.put(fingerprint, chunk, chunk.length, 1, seed);
                    }
                    return null;
                }));
            }
            for (Future<?> writer : writers) {
                writer.get(150, TimeUnit.SECONDS);
            }
            assertEquals(STEPS, volume.statistics().chunks(), "chunks");
            for (int number = 0; number < STEPS; number++) {
                long location = volume.find(ChunkTrial.fingerprint(ChunkTrial.chunk(number)));
                assertEquals(WRITERS, volume.references(location), "chunk " + number);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /**
     * Holds at least one reference to each content that it uses, and its location, as a file map does.
     *
     * @param expected of each content the references at each location
     */
    private static void write(ChunkVolume volume, long seed, List<Map<Long, Integer>> expected) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        int[] own = new int[CONTENTS];
        long[] locations = new long[CONTENTS];
        for (int step = 0; step < STEPS; step++) {
            int number = random.nextInt(CONTENTS);
            byte[] chunk = ChunkTrial.chunk(number);
            byte[] fingerprint = ChunkTrial.fingerprint(chunk);
            int delta;
            if (own[number] == 0) {
                delta = 1;
                locations[number] =
                        volume.put(fingerprint, chunk, chunk.length, 1, seed).location();
                assertArrayEquals(chunk, volume.get(fingerprint, locations[number]));
            } else {
                delta = random.nextBoolean() ? 1 : -own[number];
                assertArrayEquals(chunk, volume.get(fingerprint, locations[number]));
                assertEquals(locations[number], volume.claim(fingerprint, locations[number], delta));
            }
            own[number] += delta;
            expected.get(number).merge(locations[number], delta, Integer::sum);
        }
    }
}
