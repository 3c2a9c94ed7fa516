package org.opendedup.sar.restore.lookahead;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.restore.HotVolume;
import org.opendedup.sar.restore.ReadStream;
import org.opendedup.sar.restore.RestoreEngine;
import org.opendedup.sar.restore.frame.FrameCache;

/**
 * One opening of a file that is read at several positions in turns, backward, in strides or in random runs: the number
 * of frames read from the disk, and the reads reported to the promotion.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ReadPositionsTest {
    private static final int CHUNKS = 14_000;
    private static final int MIN_CHUNK = 3500;
    private static final int MAX_CHUNK = 4000;
    private static final int REQUEST = 128 << 10;
    private static final int MIB = 1 << 20;
    private static final long BUDGET = 32 << 20;
    /** Frames read, relative to those that one sequential pass reads for the requested bytes. */
    private static final double BOUND = 1.1;
    /**
     * Limit where positions displace each other, and where requests of short turns come before their turn: a request
     * that is parked in part is read from the disk as a whole. Up to 1.11 was measured in both cases.
     */
    private static final double DRIVEN_OUT_BOUND = 1.2;
    /**
     * Bytes that may be fetched in vain until a reader is known to jump: twice its first run of at most 2 MiB, the step
     * of 2 MiB that is begun then, and 1 MiB for the second run. Most runs of the test stay below 4 MiB; with a slow
     * disk thread it is up to 5.5 MiB.
     */
    private static final long LEARNING_BYTES = 7 * MIB;

    private final long seed = TestSeed.next();
    private final Random random = new Random();
    private HotVolume volume;

    @BeforeAll
    void store(@TempDir Path folder) throws IOException {
        volume = new HotVolume(folder, seed, CHUNKS, MIN_CHUNK, MAX_CHUNK);
        volume.attached = null;
        int[] lengths = new int[CHUNKS];
        Arrays.fill(lengths, MAX_CHUNK);
        volume.makePieces(IntStream.range(0, CHUNKS).toArray(), lengths);
    }

    @AfterAll
    void close() throws IOException {
        volume.close();
    }

    @BeforeEach
    void chooseAnew() {
        random.setSeed(seed);
    }

    private int size() {
        return volume.expected().length;
    }

    /**
     * The cost of a pass.
     *
     * @param frames frames read, relative to those that contain the requested bytes
     * @param heard chunks reported to the promotion, relative to those requested
     * @param heardAgain those of them reported before, relative to those requested
     * @param wantedBytes requested bytes
     */
    private record Cost(double frames, double heard, double heardAgain, long wantedBytes) {}

    /** Reads requests of {@link #REQUEST} bytes at these offsets, and compares the bytes. */
    private Cost cost(int positions, List<Integer> offsets) throws Exception {
        return cost(positions, offsets, offsets.size());
    }

    /** As above, with a new opening of the file after each {@code requests}. */
    private Cost cost(int positions, List<Integer> offsets, int requests) throws Exception {
        volume.promotions.onceEach.clear();
        RestoreEngine engine = volume.engine(new FrameCache(MIB), false, HotVolume.budget(BUDGET));
        for (int from = 0; from < offsets.size(); from += requests) {
            try (ReadStream stream = HotVolume.stream(engine, positions)) {
                for (int offset : offsets.subList(from, Math.min(offsets.size(), from + requests))) {
                    read(stream, offset);
                }
            }
        }
        return costSince(engine, (int) offsets.stream().distinct().count());
    }

    /** Of {@code requests} to the engine, when no chunk is held any more. */
    private Cost costSince(RestoreEngine engine, int requests) throws InterruptedException {
        while (engine.memory().bytes() > 0) {
            Thread.sleep(1);
        }
        assertTrue(engine.memory().mostBytes() <= 1.25 * BUDGET, engine.memory().mostBytes() + " bytes");
        Set<Long> heard = new HashSet<>(volume.promotions.onceEach);
        long wantedBytes = (long) requests * REQUEST;
        double wanted = wantedBytes * (double) CHUNKS / size();
        // Chunks of this size have a frame each.
        Cost cost = new Cost(
                engine.cacheMisses() / wanted,
                volume.promotions.onceEach.size() / wanted,
                (volume.promotions.onceEach.size() - heard.size()) / wanted,
                wantedBytes);
        System.out.println("seed " + seed + ", " + requests + " requests: " + cost);
        return cost;
    }

    private void read(ReadStream stream, int offset) throws IOException {
        int length = Math.min(REQUEST, size() - offset);
        ByteBuffer target = ByteBuffer.allocate(length);
        boolean continues = stream.note(offset, length, size());
        stream.read(offset, length, continues, target);
        assertArrayEquals(Arrays.copyOfRange(volume.expected(), offset, offset + length), target.array());
    }

    /** The file in {@code positions} equal parts, read in turns of {@code requests} requests each. */
    private List<Integer> inTurns(int positions, int requests) {
        int part = size() / REQUEST / positions;
        List<Integer> offsets = new ArrayList<>();
        for (int at = 0; at < part; at += requests) {
            for (int position = 0; position < positions; position++) {
                for (int i = at; i < Math.min(part, at + requests); i++) {
                    offsets.add((position * part + i) * REQUEST);
                }
            }
        }
        return offsets;
    }

    /** As above, but turns of 1 to {@code most} requests, each position next with the same probability. */
    private List<Integer> atRandom(int positions, int most) {
        int part = size() / REQUEST / positions;
        int[] next = new int[positions];
        List<Integer> offsets = new ArrayList<>();
        while (offsets.size() < part * positions) {
            int position = random.nextInt(positions);
            for (int n = 1 + random.nextInt(most); n > 0 && next[position] < part; n--) {
                offsets.add((position * part + next[position]++) * REQUEST);
            }
        }
        return offsets;
    }

    /** In the order of the kernel's threads: each request up to {@code places} before its turn. */
    private List<Integer> shuffled(List<Integer> offsets, int places) {
        List<Integer> waiting = new ArrayList<>();
        List<Integer> shuffled = new ArrayList<>();
        for (int offset : offsets) {
            waiting.add(offset);
            if (waiting.size() > places) {
                shuffled.add(waiting.remove(random.nextInt(waiting.size())));
            }
        }
        shuffled.addAll(waiting);
        return shuffled;
    }

    private static void check(Cost cost) {
        check(cost, BOUND);
    }

    private static void check(Cost cost, double bound) {
        assertTrue(cost.frames <= bound, cost.toString());
        assertTrue(cost.heardAgain <= 0.02, cost.toString());
        assertTrue(cost.heard >= 0.8 && cost.heard <= 1.05, cost.toString());
    }

    /** For a reader that must be detected first. */
    private static void checkLearned(Cost cost) {
        check(cost, BOUND + (double) LEARNING_BYTES / cost.wantedBytes);
    }

    @Test
    void onePositionReadsEachFrameAboutOnce() throws Exception {
        check(cost(8, inTurns(1, 1)));
        check(cost(8, shuffled(inTurns(1, 1), 6)));
    }

    @ParameterizedTest
    @CsvSource({"2,1", "5,30", "8,12"})
    void positionsThatAreReadInTurnsReadEachFrameAboutOnce(int positions, int requests) throws Exception {
        check(cost(8, inTurns(positions, requests)));
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 8})
    void positionsThatAreReadAtRandomReadEachFrameAboutOnce(int positions) throws Exception {
        check(cost(8, atRandom(positions, 40)));
        check(cost(8, shuffled(atRandom(positions, 12), 6)), DRIVEN_OUT_BOUND);
    }

    /** Chunks fetched ahead for one position and not taken are parked for it when another replaces it. */
    @Test
    void readAheadAtOnePositionOnlyReadsEachFrameAboutOnce() throws Exception {
        check(cost(1, inTurns(8, 30)));
    }

    /** The control: with a new opening at each turn the positions are unknown, and untaken chunks are lost. */
    @Test
    void theControlThatForgetsItsPositionsReadsMore() throws Exception {
        int requests = 20;
        List<Integer> offsets = inTurns(2, requests);
        Cost cost = cost(8, offsets, requests);
        assertTrue(cost.frames > BOUND, cost.toString());
        check(cost(8, offsets));
    }

    /** Each range by a new opening, as programs do that read parts of many files. */
    @ParameterizedTest
    @ValueSource(ints = {4, 16})
    void aRangeWithinAFileCostsAtMostAsMuchAgain(int requests) throws Exception {
        List<Integer> places = new ArrayList<>();
        IntStream.range(1, size() / REQUEST / requests).forEach(places::add);
        Collections.shuffle(places, random);
        List<Integer> offsets = new ArrayList<>();
        for (int place : places.subList(0, 8)) {
            for (int i = 0; i < requests; i++) {
                offsets.add((place * requests + i) * REQUEST);
            }
        }
        Cost cost = cost(8, offsets, requests);
        assertTrue(cost.frames <= 2, cost.toString());
        // The control: a reader from the first byte of the file is taken to want all of it.
        List<Integer> beginning =
                IntStream.range(0, requests).map(i -> i * REQUEST).boxed().toList();
        Cost control = cost(8, beginning, requests);
        assertTrue(control.frames > 2, control.toString());
    }

    /** Two threads read at the same time, each its own half. */
    @Test
    void twoThreadsReadEachFrameAboutOnce() throws Exception {
        volume.promotions.onceEach.clear();
        RestoreEngine engine = volume.engine(new FrameCache(MIB), false, HotVolume.budget(BUDGET));
        int requests = size() / REQUEST;
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (ReadStream stream = engine.stream(HotVolume.INODE)) {
            List<Callable<Void>> halves =
                    List.of(() -> readAll(stream, 0, requests / 2), () -> readAll(stream, requests / 2, requests));
            for (Future<Void> half : threads.invokeAll(halves)) {
                half.get();
            }
        } finally {
            threads.shutdownNow();
        }
        check(costSince(engine, requests));
    }

    private @Nullable Void readAll(ReadStream stream, int from, int to) throws IOException {
        for (int i = from; i < to; i++) {
            read(stream, i * REQUEST);
        }
        return null;
    }

    /** More positions than are read ahead. */
    @Test
    void manyPositionsReadEachFrameAboutOnce() throws Exception {
        check(cost(8, inTurns(20, 1)));
        check(cost(8, inTurns(20, 10)), DRIVEN_OUT_BOUND);
    }

    @Test
    void backwardEachFrameIsReadAboutOnce() throws Exception {
        for (int piece : new int[] {1, 2, 8}) {
            List<Integer> offsets = new ArrayList<>();
            int last = size() / REQUEST / piece - 1;
            for (int at = last; at >= 0; at--) {
                for (int i = 0; i < piece; i++) {
                    offsets.add((at * piece + i) * REQUEST);
                }
            }
            check(cost(8, offsets));
        }
    }

    @ParameterizedTest
    @CsvSource({"1,2", "16,48"})
    void inStridesNoMoreIsReadThanIsAskedFor(int run, int stride) throws Exception {
        List<Integer> offsets = new ArrayList<>();
        for (int at = 0; at + run <= size() / REQUEST; at += stride) {
            for (int i = 0; i < run; i++) {
                offsets.add((at + i) * REQUEST);
            }
        }
        checkLearned(cost(8, offsets));
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 64})
    void runsFromAnywhereCostLittleMoreThanTheyAskFor(int run) throws Exception {
        List<Integer> places = new ArrayList<>();
        IntStream.range(0, size() / REQUEST / run).forEach(places::add);
        Collections.shuffle(places, random);
        List<Integer> offsets = new ArrayList<>();
        for (int place : places) {
            for (int i = 0; i < run; i++) {
                offsets.add((place * run + i) * REQUEST);
            }
        }
        checkLearned(cost(8, offsets));
    }
}
