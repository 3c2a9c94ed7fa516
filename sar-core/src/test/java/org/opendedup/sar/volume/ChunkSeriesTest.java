package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.metadata.record.StreamLogDefects;
import org.opendedup.sar.volume.chunks.ChunkVolume;
import org.opendedup.sar.volume.chunks.ChunkVolumeStatistics;

/** A series of backups, of which the last one refers to chunks of all before it, is read ahead along its stream. */
@Timeout(240)
class ChunkSeriesTest {
    private static final int CHUNKS = 2500;
    private static final int GENERATIONS = 6;
    private static final int PAGE = 50;
    private static final int PAGE_THREADS = 8;

    private final long seed = TestSeed.next();
    private final ChunkTrial trial;
    private final Map<Long, Long> locations = new HashMap<>();
    private final List<List<Long>> generations = new ArrayList<>();
    private final AtomicLong requests = new AtomicLong();

    ChunkSeriesTest() throws IOException {
        trial = ChunkTrial.create(new CrashDirectory(seed));
        trial.hooks.hook = call -> {
            requests.addAndGet(!call.isOfMetadata() && call.what().equals("readFully") ? 1 : 0);
            return call.proceed();
        };
    }

    /** Each generation changes 5 % of the chunks, in runs of one to seven, and adds and removes some. */
    private List<Long> next(List<Long> before, int generation) {
        SplittableRandom random = new SplittableRandom(seed + generation);
        long fresh = 1_000_000L * generation;
        List<Long> numbers = new ArrayList<>();
        for (int i = 0; i < before.size(); ) {
            int dice = random.nextInt(1000);
            if (dice < 12) {
                int length = 1 + random.nextInt(7);
                for (int j = 0; j < length; j++) {
                    numbers.add(fresh++);
                }
                i += length;
            } else if (dice == 12) {
                numbers.add(fresh++);
            } else if (dice == 13) {
                i++;
            } else {
                numbers.add(before.get(i++));
            }
        }
        return numbers;
    }

    private void put(ChunkVolume volume, long number, long stream) throws IOException {
        byte[] chunk = ChunkTrial.chunk(number);
        locations.put(
                number,
                volume.put(ChunkTrial.fingerprint(chunk), chunk, chunk.length, 1, stream)
                        .location());
    }

    private void writeSeries() throws IOException {
        writeSeries(CHUNKS, 1);
    }

    /**
     * @param chunks chunks of the first generation
     * @param atOnce pages of a generation that are written at the same time, as by SDFS's threads
     */
    private void writeSeries(int chunks, int atOnce) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        try (ChunkVolume volume = trial.open()) {
            List<Long> numbers = new ArrayList<>();
            for (long number = 0; number < chunks; number++) {
                numbers.add(number);
            }
            for (int generation = 0; generation < GENERATIONS; generation++) {
                numbers = generation == 0 ? numbers : next(numbers, generation);
                generations.add(numbers);
                for (long number : inPages(numbers, atOnce, random)) {
                    put(volume, number, generation);
                }
                volume.sync();
            }
        }
    }

    /** Returns numbers in an order in which threads bring them that write a page each. */
    private static List<Long> inPages(List<Long> numbers, int atOnce, SplittableRandom random) {
        List<Long> order = new ArrayList<>();
        List<Iterator<Long>> pages = new ArrayList<>();
        int next = 0;
        while (next < numbers.size() || !pages.isEmpty()) {
            if (pages.size() < atOnce && next < numbers.size()) {
                int end = Math.min(numbers.size(), next + PAGE);
                pages.add(numbers.subList(next, end).iterator());
                next = end;
                continue;
            }
            Iterator<Long> page = pages.get(random.nextInt(pages.size()));
            if (page.hasNext()) {
                order.add(page.next());
            } else {
                pages.remove(page);
            }
        }
        return order;
    }

    private void read(ChunkVolume volume, long number) throws IOException {
        byte[] chunk = ChunkTrial.chunk(number);
        assertArrayEquals(chunk, volume.get(ChunkTrial.fingerprint(chunk), locations.get(number)), "chunk " + number);
    }

    private List<Long> last() {
        return generations.get(GENERATIONS - 1);
    }

    /** How a client reads. */
    private interface Reading {
        void read(ChunkVolume volume) throws Exception;
    }

    private ChunkVolumeStatistics reading(boolean ahead, Reading reading) throws Exception {
        try (ChunkVolume volume = trial.open()) {
            volume.setReadAhead(ahead);
            requests.set(0);
            reading.read(volume);
            return volume.statistics();
        }
    }

    private void readLast(ChunkVolume volume) throws IOException {
        for (long number : last()) {
            read(volume, number);
        }
    }

    @Test
    void theLastGenerationIsReadWithFewRequests() throws Exception {
        writeSeries();
        reading(false, this::readLast);
        long alone = requests.get();
        ChunkVolumeStatistics after = reading(true, this::readLast);
        long ahead = requests.get();
        assertTrue(4 * ahead < alone, ahead + " requests, " + alone + " without reading ahead; " + after);
        assertTrue(after.chunksAhead() > last().size() * 8 / 10, after::toString);
    }

    @Test
    void aMiddleGenerationIsReadWithFewerRequests() throws Exception {
        writeSeries();
        Reading middle = volume -> {
            for (long number : generations.get(GENERATIONS / 2)) {
                read(volume, number);
            }
        };
        reading(false, middle);
        long alone = requests.get();
        ChunkVolumeStatistics after = reading(true, middle);
        // Its reader follows the log of a later one.
        assertTrue(requests.get() < alone, requests + " requests, " + alone + " without; " + after);
    }

    /**
     * As a real SDFS does it: eight pages are written at the same time, so that the log has the chunks of a page up to
     * some MiB apart. They are read page after page, the chunks of a page each once, by several threads, in any order.
     */
    @Test
    void threadsThatReadThePagesOfAFileAreReadAhead() throws Exception {
        writeSeries(4 * CHUNKS, 8);
        reading(false, this::readPages);
        long alone = requests.get();
        ChunkVolumeStatistics after = reading(true, this::readPages);
        assertTrue(3 * requests.get() < alone, requests + " requests, " + alone + " without; " + after);
        assertTrue(after.chunksAhead() > last().size() / 2, after::toString);
    }

    private void readPages(ChunkVolume volume) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(PAGE_THREADS);
        try {
            Random random = new Random(seed);
            List<Long> numbers = last();
            for (int page = 0; page < numbers.size(); page += PAGE) {
                List<Long> wanted =
                        new ArrayList<>(new HashSet<>(numbers.subList(page, Math.min(page + PAGE, numbers.size()))));
                Collections.shuffle(wanted, random);
                List<Future<?>> reads = new ArrayList<>();
                for (long number : wanted) {
                    reads.add(threads.submit(() -> {
                        read(volume, number);
                        return null;
                    }));
                }
                for (Future<?> read : reads) {
                    read.get();
                }
            }
        } finally {
            threads.shutdown();
        }
    }

    @ParameterizedTest
    @EnumSource(StreamLogDefects.class)
    void lostAndDamagedAndWrongLogsCostSpeedOnly(StreamLogDefects defect) throws Exception {
        writeSeries();
        ChunkVolumeStatistics whole = reading(true, this::readLast);
        assertTrue(defect.make(KeyValueStores.sealed(trial.metadata, ChunkTrial.CONFIG.keys()), seed) > 2);
        ChunkVolumeStatistics after = reading(true, this::readLast);
        // The control: the defect was there, and the log of use before.
        assertTrue(after.chunksAhead() < whole.chunksAhead() * 9 / 10, whole + "; " + after);
        try (ChunkVolume volume = trial.open()) {
            assertEquals(null, volume.stopped());
            assertTrue(volume.statistics().chunks() == whole.chunks());
        }
    }

    /** The log of what was synced is there after a power cut; what was being written then changes nothing. */
    @Test
    void afterAPowerCutWhatWasSyncedIsReadAhead() throws Exception {
        assertTrue(readAfterAPowerCut(seed, true) > CHUNKS / 2);
    }

    @Test
    void theTestFindsWhatIsNotDurable() throws Exception {
        boolean isFound = false;
        for (int crash = 0; crash < 20 && !isFound; crash++) {
            try {
                isFound = readAfterAPowerCut(seed + crash, false) <= CHUNKS / 2;
            } catch (AssertionError lost) {
                isFound = String.valueOf(lost.getMessage()).endsWith("is lost");
            }
        }
        assertTrue(isFound, "the control must fail");
    }

    /** Returns how many chunks of the last synced generation were read ahead. */
    private long readAfterAPowerCut(long crashSeed, boolean isSynced) throws Exception {
        ChunkTrial cut = ChunkTrial.create(new CrashDirectory(crashSeed));
        ChunkVolume volume = cut.open();
        for (int generation = 0; generation < 2; generation++) {
            for (long number = 0; number < CHUNKS; number++) {
                put(volume, number % 50 == generation ? 1_000_000 + number : number, generation);
            }
            if (isSynced) {
                volume.sync();
            }
        }
        for (long number = 0; number < CHUNKS; number++) {
            put(volume, number % 20 == 0 ? 2_000_000 + number : number, 2);
        }
        ChunkTrial left = cut.crash(crashSeed);
        try {
            volume.close();
        } catch (IOException gone) {
            // Its stores are.
        }
        try (ChunkVolume found = left.open()) {
            for (long number = 0; number < CHUNKS; number++) {
                try {
                    read(found, number % 50 == 1 ? 1_000_000 + number : number);
                } catch (IOException | AssertionError e) {
                    throw new AssertionError("chunk " + number + " is lost", e);
                }
            }
            return found.statistics().chunksAhead();
        }
    }

    @Test
    void chunksThatWereCollectedAreNotReadAhead() throws Exception {
        writeSeries();
        Set<Long> kept = new HashSet<>(last());
        try (ChunkVolume volume = trial.open()) {
            for (List<Long> generation : generations) {
                for (long number : generation) {
                    if (!kept.contains(number)) {
                        byte[] fingerprint = ChunkTrial.fingerprint(ChunkTrial.chunk(number));
                        volume.claim(fingerprint, locations.get(number), -1);
                    }
                }
            }
            trial.passGrace();
            long before = volume.statistics().chunks();
            volume.collect(new CollectionLimits(0, false), (done, of, returned) -> true);
            assertTrue(volume.statistics().chunks() < before, "nothing was collected");
        }
        // The logs of all generations name them, and the last one is read along them.
        Reading all = volume -> {
            for (List<Long> generation : generations) {
                for (long number : generation) {
                    if (kept.contains(number)) {
                        read(volume, number);
                    }
                }
            }
        };
        ChunkVolumeStatistics after = reading(true, all);
        assertTrue(after.chunksAhead() > 0, after::toString);
    }

    @Test
    void logsAreBounded() throws Exception {
        try (ChunkVolume volume = trial.open()) {
            List<byte[]> chunks = new ArrayList<>();
            List<byte[]> fingerprints = new ArrayList<>();
            for (int number = 0; number < 500; number++) {
                chunks.add(ChunkTrial.chunk(number));
                fingerprints.add(ChunkTrial.fingerprint(chunks.get(number)));
            }
            long most = 2 * 500 + (1 << 16);
            for (int round = 0; round < 200; round++) {
                for (int number = 0; number < 500; number++) {
                    byte[] chunk = chunks.get(number);
                    volume.put(fingerprints.get(number), chunk, chunk.length, 1, round);
                }
                volume.sync();
                for (int wait = 0; wait < 1000 && volume.statistics().logReferences() > most; wait++) {
                    Thread.sleep(10);
                }
                assertTrue(volume.statistics().logReferences() <= most, volume.statistics()::toString);
            }
            assertTrue(volume.statistics().logReferences() > most / 2, volume.statistics()::toString);
        }
    }

    @Test
    void writersAndReadersAndCollectionsAtOnce() throws Exception {
        writeSeries();
        ExecutorService threads = Executors.newFixedThreadPool(6);
        try (ChunkVolume volume = trial.open()) {
            List<Future<?>> all = new ArrayList<>();
            for (int reader = 0; reader < 3; reader++) {
                List<Long> numbers = generations.get(GENERATIONS - 1 - reader);
                all.add(threads.submit(() -> {
                    for (long number : numbers) {
                        read(volume, number);
                    }
                    return null;
                }));
            }
            for (int writer = 0; writer < 2; writer++) {
                List<Long> numbers = last();
                long stream = 100 + writer;
                all.add(threads.submit(() -> {
                    for (long number : numbers) {
                        byte[] chunk = ChunkTrial.chunk(number);
                        volume.put(ChunkTrial.fingerprint(chunk), chunk, chunk.length, 1, stream);
                    }
                    volume.sync();
                    return null;
                }));
            }
            all.add(threads.submit(() -> {
                for (int i = 0; i < 5; i++) {
                    volume.collect(new CollectionLimits(0, false), (done, of, returned) -> true);
                }
                return null;
            }));
            for (Future<?> part : all) {
                part.get();
            }
            readLast(volume);
        } finally {
            threads.shutdown();
        }
    }
}
