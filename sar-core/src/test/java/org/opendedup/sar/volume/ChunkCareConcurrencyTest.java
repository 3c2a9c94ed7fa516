package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.volume.chunks.ChunkMaintenance;

/** A damaged volume of chunks is scrubbed, healed, collected, backed up and checked while clients use it. */
@Timeout(300)
class ChunkCareConcurrencyTest {
    private static final int CONTAINERS = 3;
    private static final int IN_EACH = 100;
    private static final int WRITERS = 3;
    private static final int STEPS = 600;

    private final long seed = TestSeed.next();
    /** References by location, as the clients count them. */
    private final Map<Long, Integer> references = new ConcurrentHashMap<>();

    @MemoryFolder
    private Path folder;

    @Test
    void careBesideClientsKeepsBytesAndCounts() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(WRITERS + 1);
        try (ChunkFolder chunks = new ChunkFolder(folder, null)) {
            for (int i = 0; i < CONTAINERS; i++) {
                chunks.put((long) i * IN_EACH, (i + 1L) * IN_EACH);
                chunks.reopen();
            }
            chunks.locations.values().forEach(location -> references.put(location, 1));
            chunks.damage();
            assertTrue(chunks.unreadable() > 0, "control: it is damaged");
            chunks.volume.maintenance().heal().setDelays(0, 20);
            AtomicBoolean ends = new AtomicBoolean();
            Future<Integer> rounds = threads.submit(() -> care(chunks, ends));
            List<Future<?>> writers = new ArrayList<>();
            for (int i = 0; i < WRITERS; i++) {
                long own = seed + i;
                writers.add(threads.submit(() -> {
                    use(chunks, own);
                    return null;
                }));
            }
            for (Future<?> writer : writers) {
                writer.get(200, TimeUnit.SECONDS);
            }
            ends.set(true);
            assertTrue(rounds.get(60, TimeUnit.SECONDS) > 0);
            chunks.heal();
            assertEquals(0, chunks.damagedChunks());
            for (Map.Entry<Long, Integer> counted : references.entrySet()) {
                assertEquals(counted.getValue(), chunks.volume.references(counted.getKey()));
            }
            chunks.assertWhole();
        } finally {
            threads.shutdownNow();
        }
    }

    /** Puts each content once, then puts, claims and reads: since then, no read may fail. */
    private void use(ChunkFolder chunks, long own) throws IOException {
        SplittableRandom random = new SplittableRandom(own);
        Deque<long[]> mine = new ArrayDeque<>();
        int contents = CONTAINERS * IN_EACH;
        for (int number = 0; number < contents; number++) {
            put(chunks, number, own, mine);
        }
        for (int step = 0; step < STEPS; step++) {
            int number = random.nextInt(contents);
            byte[] fingerprint = ChunkTrial.fingerprint(ChunkTrial.chunk(number));
            switch (random.nextInt(4)) {
                case 0 -> put(chunks, number, own, mine);
                case 1 -> {
                    long[] one = mine.pop();
                    byte[] of = ChunkTrial.fingerprint(ChunkTrial.chunk(one[0]));
                    assertEquals(one[1], chunks.volume.claim(of, one[1], -1));
                    references.merge(one[1], -1, Integer::sum);
                }
                default ->
                    assertArrayEquals(
                            ChunkTrial.chunk(number),
                            chunks.volume.get(fingerprint, chunks.locations.get((long) number)));
            }
        }
        chunks.volume.sync();
    }

    private void put(ChunkFolder chunks, int number, long stream, Deque<long[]> mine) throws IOException {
        byte[] chunk = ChunkTrial.chunk(number);
        long location = chunks.volume
                .put(ChunkTrial.fingerprint(chunk), chunk, chunk.length, 1, stream)
                .location();
        references.merge(location, 1, Integer::sum);
        mine.push(new long[] {number, location});
    }

    /** Returns how often it has done everything. */
    private static int care(ChunkFolder chunks, AtomicBoolean ends) throws IOException {
        int rounds = 0;
        while (!ends.get()) {
            ChunkMaintenance maintenance = chunks.volume.maintenance();
            chunks.scrub();
            chunks.heal();
            chunks.volume.collect(new CollectionLimits(0, false), (done, of, returned) -> true);
            maintenance.backups().backUp(2);
            boolean isWhole = chunks.damagedChunks() == 0;
            StoredVolume.Report report = maintenance.check().run((step, done, of) -> {});
            assertTrue(
                    !isWhole
                            || report.findings().stream()
                                    .allMatch(finding -> finding.severity() == Finding.Severity.NOTE),
                    report::toString);
            rounds++;
        }
        return rounds;
    }
}
