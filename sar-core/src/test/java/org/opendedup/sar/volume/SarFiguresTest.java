package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.hot.SsdState;
import org.opendedup.sar.hot.copies.Refusal;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.hot.policy.HotSettings.Policy;
import org.opendedup.sar.hot.promotion.PromotionStatistics;

/** Each offer and each read is counted once, under one name, whatever happens to the SSD. */
@Timeout(240)
class SarFiguresTest {
    private static final int STEPS = 40;
    private static final long CAPACITY = 64 << 20;

    @MemoryFolder
    Path folder;

    private static HotSettings settings(long capacity, int threshold, boolean enabled, Policy policy) {
        return new HotSettings(enabled, capacity, threshold, 128 << 10, true, 100_000, policy);
    }

    private static HotSettings settings() {
        return settings(CAPACITY, 2, true, Policy.REFERENCE_COUNT);
    }

    /** The kinds of steps of a script. */
    private enum Kind {
        WRITE,
        WRITE_SLOWLY_TAKEN,
        READ_CHUNKS,
        READ_WHOLE,
        READ_WHILE_SSD_HANGS,
        DETACH,
        ATTACH,
        WIPE,
        RESIZE,
        SETTINGS
    }

    @RepeatedTest(3)
    void everyScriptAddsUp() throws Exception {
        long seed = TestSeed.next();
        Random random = new Random(seed);
        try (HotTrial trial = new HotTrial(folder, settings(), random.nextBoolean() ? -1 : 0)) {
            trial.write(HotTrial.scattered(0, 1000, 1));
            StringBuilder script = new StringBuilder("seed " + seed + ":");
            long before = 0;
            for (int i = 0; i < STEPS; i++) {
                Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
                script.append(' ').append(kind);
                long wanted = run(trial, kind, random);
                trial.checkFigures(script.toString());
                long chunks = trial.status().distributor().chunks();
                if (wanted >= 0) {
                    // By the requests of the script, not by the results.
                    assertEquals(wanted, chunks - before, script.toString());
                }
                before = chunks;
            }
        }
    }

    /** Returns the number of chunks read; -1: more, because of reading ahead. */
    private long run(HotTrial trial, Kind kind, Random random) throws Exception {
        switch (kind) {
            case WRITE -> trial.write(someChunks(random));
            case WRITE_SLOWLY_TAKEN -> {
                trial.gates.writes.close();
                trial.write(someChunks(random));
                trial.gates.writes.open();
            }
            case READ_CHUNKS -> {
                return readChunks(trial, random, 200);
            }
            case READ_WHOLE -> {
                trial.readWhole(random.nextInt(trial.files.size()));
                return -1;
            }
            case READ_WHILE_SSD_HANGS -> {
                trial.gates.reads.close();
                long read = readChunks(trial, random, 6);
                trial.gates.reads.open();
                return read;
            }
            case DETACH -> trial.volume.hot().detach();
            case ATTACH -> trial.volume.hot().attach(trial.ssd);
            case WIPE -> wipe(trial.ssd);
            case RESIZE ->
                change(trial, settings(random.nextBoolean() ? 8 << 20 : CAPACITY, 2, true, Policy.REFERENCE_COUNT));
            case SETTINGS ->
                change(
                        trial,
                        settings(
                                CAPACITY,
                                1 + random.nextInt(4),
                                random.nextInt(4) > 0,
                                Policy.values()[random.nextInt(2)]));
        }
        return 0;
    }

    private static void change(HotTrial trial, HotSettings settings) throws IOException {
        trial.volume.hot().change(settings);
    }

    private static long[] someChunks(Random random) {
        return HotTrial.scattered(random.nextInt(2000), 1 + random.nextInt(2500), random.nextLong());
    }

    /** Reads chunks far from each other, because reading ahead begins where a reader continues in sequence. */
    private static long readChunks(HotTrial trial, Random random, int count) throws IOException {
        int file = random.nextInt(trial.files.size());
        int chunks = trial.files.get(file).length;
        int read = 0;
        int last = -1;
        for (int i = 0; i < count; i++) {
            int chunk = random.nextInt(chunks);
            if (chunk != last + 1 && chunk != 0) {
                trial.readChunks(file, chunk);
                read++;
            }
            last = chunk;
        }
        return read;
    }

    /** Deletes everything, as an administrator's rm -r does, while the SSD is in use. */
    private static void wipe(Path ssd) throws IOException {
        for (Path path : contents(ssd)) {
            try {
                Files.deleteIfExists(path);
            } catch (java.nio.file.DirectoryNotEmptyException e) {
                // The store made a file there meanwhile.
            }
        }
    }

    /** Returns what is in a folder that is in use, folders after what is in them. */
    private static List<Path> contents(Path ssd) throws IOException {
        try (Stream<Path> walk = Files.walk(ssd)) {
            return walk.sorted(Comparator.reverseOrder())
                    .filter(path -> !path.equals(ssd))
                    .toList();
        } catch (UncheckedIOException e) {
            // The store deleted a file meanwhile.
            return contents(ssd);
        }
    }

    /** The control: an SSD that loses chunks without a report makes the figures wrong. */
    @Test
    void aChunkThatGetsLostUncountedIsNoticed() throws Exception {
        try (HotTrial trial = new HotTrial(folder, settings(), -1)) {
            trial.gates.losesOffers = true;
            trial.volume.hot().attach(trial.ssd);
            trial.write(HotTrial.scattered(0, 300, 1));
            trial.write(HotTrial.scattered(0, 300, 2));
            AssertionError noticed = assertThrows(AssertionError.class, () -> trial.checkFigures("losing"));
            assertTrue(noticed.getMessage().contains("losing"), noticed::getMessage);
        }
    }

    @Test
    void duplicatesWrittenWhileNoSsdIsAttachedAreRefusedAsUnavailable() throws Exception {
        try (HotTrial trial = new HotTrial(folder, settings(), -1)) {
            trial.write(HotTrial.scattered(0, 300, 1));
            trial.volume.hot().detach();
            trial.write(HotTrial.scattered(0, 300, 2));
            assertEquals(300, trial.promotion().refused(Refusal.UNAVAILABLE));
            trial.checkFigures("detached");
            trial.volume.hot().attach(trial.ssd);
            trial.write(HotTrial.scattered(0, 300, 3));
            trial.checkFigures("attached");
            assertEquals(300, trial.promotion().refused(Refusal.UNAVAILABLE));
            assertEquals(300, trial.promotion().promoted());
        }
    }

    @Test
    void whatThereIsNoRoomForIsRefusedByThatNameAndNotPromoted() throws Exception {
        try (HotTrial trial = new HotTrial(folder, settings(1 << 20, 2, true, Policy.REFERENCE_COUNT), -1)) {
            trial.write(HotTrial.scattered(0, 500, 1));
            trial.write(HotTrial.scattered(0, 500, 2));
            trial.checkFigures("too small an SSD");
            PromotionStatistics promotion = trial.promotion();
            assertEquals(500, promotion.offered());
            assertEquals(0, promotion.promoted());
            assertEquals(500, promotion.refused(Refusal.NO_ROOM), promotion::toString);
        }
    }

    /** With copies on the SSD, and with so high a threshold that all is read from the disk, ahead of the reader. */
    @ParameterizedTest
    @ValueSource(ints = {2, 50})
    void ofAReaderInSequenceEveryChunkIsCounted(int threshold) throws Exception {
        try (HotTrial trial = new HotTrial(folder, settings(64 << 20, threshold, true, Policy.REFERENCE_COUNT), -1)) {
            // 2 MiB in the order on the disk, and a reader of these in another order: most are in memory by then.
            trial.write(HotTrial.scattered(0, 512, 1));
            trial.write(HotTrial.scattered(0, 512, 2));
            for (int round = 0; round < 2; round++) {
                for (int file = 0; file < 2; file++) {
                    long before = trial.status().distributor().chunks();
                    // An earlier batch may bring chunks of the next one. They are counted when that one begins, and as
                    // unread if the reader leaves before it ends.
                    trial.readWhole(file, () -> {
                        HotTrial.await(
                                () -> trial.status().distributor().chunks() - before >= 512,
                                () -> trial.status().toString());
                        trial.checkFigures("reading in sequence");
                    });
                    assertEquals(0, trial.status().distributor().unread());
                }
            }
        }
    }

    @Test
    void aWipedSsdHasWhatCanStillBeReadAndNothingWhenItIsAttachedAgain() throws Exception {
        try (HotTrial trial = new HotTrial(folder, settings(), -1)) {
            trial.write(HotTrial.scattered(0, 300, 1));
            trial.write(HotTrial.scattered(0, 300, 2));
            trial.checkFigures("writing");
            assertEquals(300, trial.status().mapTableEntries());
            wipe(trial.ssd);
            trial.write(HotTrial.scattered(0, 1, 3));
            // Its files are open: the figure counts entries that are still readable.
            assertEquals(300, trial.status().mapTableEntries());
            for (int chunk = 298; chunk >= 0; chunk -= 2) {
                trial.readChunks(1, chunk);
            }
            assertEquals(150, trial.status().distributor().ssdHits());
            trial.volume.hot().attach(trial.ssd);
            assertEquals(SsdState.ONLINE, trial.status().state());
            assertEquals(0, trial.status().mapTableEntries());
            assertEquals(0, trial.status().liveBytes());
            trial.checkFigures("wiped");
        }
    }
}
