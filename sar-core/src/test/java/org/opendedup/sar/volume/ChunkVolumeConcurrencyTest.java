package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
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
        AtomicIntegerArray expected = new AtomicIntegerArray(CONTENTS);
        Map<Integer, Long> locations = new ConcurrentHashMap<>();
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
                    write(volume, own, expected, locations);
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
                long found = volume.find(ChunkTrial.fingerprint(chunk));
                if (expected.get(number) > 0) {
                    stored++;
                    assertEquals(locations.get(number), found, "chunk " + number);
                    assertEquals(expected.get(number), volume.references(found), "chunk " + number);
                    assertArrayEquals(chunk, volume.get(ChunkTrial.fingerprint(chunk), found));
                }
            }
            assertEquals(stored, volume.statistics().chunks(), "stored once each, and no garbage");
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

    /** Holds at least one reference to each content that it uses, as a file map does. */
    private static void write(ChunkVolume volume, long seed, AtomicIntegerArray expected, Map<Integer, Long> locations)
            throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        int[] own = new int[CONTENTS];
        for (int step = 0; step < STEPS; step++) {
            int number = random.nextInt(CONTENTS);
            byte[] chunk = ChunkTrial.chunk(number);
            byte[] fingerprint = ChunkTrial.fingerprint(chunk);
            if (own[number] == 0) {
                long location =
                        volume.put(fingerprint, chunk, chunk.length, 1, seed).location();
                own[number] = 1;
                expected.incrementAndGet(number);
                locations.put(number, location);
                assertArrayEquals(chunk, volume.get(fingerprint, location));
            } else {
                int delta = random.nextBoolean() ? 1 : -own[number];
                long location = locations.get(number);
                assertArrayEquals(chunk, volume.get(fingerprint, location));
                assertEquals(location, volume.claim(fingerprint, location, delta));
                own[number] += delta;
                expected.addAndGet(number, delta);
            }
        }
    }
}
