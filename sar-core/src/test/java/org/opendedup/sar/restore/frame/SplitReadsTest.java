package org.opendedup.sar.restore.frame;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.hot.copies.FakeCopyStore.Fault;
import org.opendedup.sar.restore.HotVolume;
import org.opendedup.sar.restore.RestoreEngine;

/** Reading with an SSD: the source of the bytes, and that no failure of the SSD makes them wrong. */
class SplitReadsTest {
    private static final int CHUNKS = 90;

    @TempDir
    Path folder;

    private final long seed = TestSeed.next();
    private HotVolume volume;

    @BeforeEach
    void store() throws IOException {
        volume = new HotVolume(folder, seed, CHUNKS);
    }

    @AfterEach
    void close() throws IOException {
        volume.ssd.gate.countDown();
        volume.close();
    }

    private long diskReads() {
        return volume.containers.readStatistics().diskReads();
    }

    @Test
    void aFileWhollyOnTheSsdNeedsNoDisk() throws IOException {
        volume.makeFile(0, 30, -1, 60, 0);
        volume.promote(0, 30, 60);
        RestoreEngine engine = volume.engine();
        long before = diskReads();
        assertArrayEquals(volume.expected(), volume.read(engine));
        assertEquals(before, diskReads());
        assertEquals(4, volume.distributor.statistics().ssdHits());
        assertEquals(List.of(), volume.promotions.fromDisk);
    }

    @Test
    void aLargeReadOfSmallChunksComesFromTheSsd() throws IOException {
        int chunks = 1000;
        try (HotVolume many = new HotVolume(Files.createDirectory(folder.resolve("many")), seed, chunks)) {
            int[] order = IntStream.range(0, chunks).toArray();
            many.makeFile(order);
            many.promote(order);
            assertArrayEquals(many.expected(), many.read(many.engine()));
            // A read has parts of at most 320 pieces: a chunk that a page border cuts where a part ends is read in
            // both.
            long hits = many.distributor.statistics().ssdHits();
            assertTrue(hits >= chunks && hits <= chunks + chunks / 320, "hits: " + hits);
        }
    }

    @Test
    void aFrameIsReadFromHomeForAllItsChunksIfOneHasNoCopy() throws IOException {
        volume.makeFile(0, 1, 30);
        volume.promote(0, 30);
        assertArrayEquals(volume.expected(), volume.read(volume.engine()));
        assertEquals(1, volume.distributor.statistics().ssdHits(), "chunk 30 alone");
        assertEquals(List.of(volume.ids.get(0), volume.ids.get(1)), volume.promotions.fromDisk);
        assertEquals(2, volume.distributor.statistics().homeReads());
    }

    @Test
    void whatIsInMemoryIsTakenFromThereAndToldAsSuch() throws IOException {
        volume.makeFile(0, 30, 60);
        volume.promote(0);
        FrameCache cache = new FrameCache(1 << 20);
        RestoreEngine engine = volume.engine(cache, false);
        volume.read(engine, volume.chunks.get(0).length, 10);
        assertEquals(List.of(volume.ids.get(30)), volume.promotions.fromDisk);
        assertArrayEquals(volume.expected(), volume.read(engine));
        assertEquals(1, volume.distributor.statistics().memoryHits());
        assertEquals(1, volume.distributor.statistics().ssdHits());
        assertEquals(List.of(volume.ids.get(30), volume.ids.get(60)), volume.promotions.fromDisk);
        assertEquals(List.of(volume.ids.get(30)), volume.promotions.fromMemory);
    }

    /** Control: that each request has parts of chunks, without their beginning, that memory answers. */
    @Test
    void aScanInSmallRequestsIsOneReadOfEachChunk() throws IOException {
        int[] order = IntStream.range(0, CHUNKS).toArray();
        volume.makeFile(order);
        RestoreEngine engine = volume.engine(new FrameCache(1 << 20), false);
        int bytes = 500;
        for (int at = 0; at < volume.expected().length; at += bytes) {
            volume.read(engine, at, Math.min(bytes, volume.expected().length - at));
        }
        assertTrue(volume.distributor.statistics().memoryHits() > 2 * CHUNKS);
        List<Long> told = new ArrayList<>(volume.promotions.fromDisk);
        told.addAll(volume.promotions.fromMemory);
        told.sort(null);
        // A page border cuts some chunks in the middle of a request.
        assertEquals(List.copyOf(new TreeSet<>(told)), told);
        assertEquals(CHUNKS, told.size());
    }

    @Test
    void aChunkCutByAPageBorderIsOneRead() throws IOException {
        int[] order = IntStream.range(0, 20).toArray();
        volume.makeFile(order);
        volume.promote(order);
        assertArrayEquals(volume.expected(), volume.read(volume.engine()));
        assertEquals(20, volume.ssd.chunksRead.get());
    }

    @Test
    void aMixtureOfAllSourcesReadsRightAtEveryRange() throws IOException {
        Random random = new Random(seed);
        int[] order = IntStream.range(0, 120)
                .map(i -> random.nextInt(5) == 0 ? -1 : random.nextInt(CHUNKS))
                .toArray();
        volume.makeFile(order);
        volume.promote(random.ints(60, 0, CHUNKS).toArray());
        RestoreEngine engine = volume.engine(new FrameCache(20_000), false);
        for (int i = 0; i < 300; i++) {
            checkRandomRange(engine, random);
        }
        assertTrue(volume.distributor.statistics().ssdHits() > 0);
        assertTrue(volume.distributor.statistics().homeReads() > 0);
        assertTrue(volume.distributor.statistics().memoryHits() > 0);
    }

    private void checkRandomRange(RestoreEngine engine, Random random) throws IOException {
        int offset = random.nextInt(volume.expected().length);
        int length = 1 + random.nextInt(Math.min(30_000, volume.expected().length - offset));
        byte[] expected = Arrays.copyOfRange(volume.expected(), offset, offset + length);
        assertArrayEquals(expected, volume.read(engine, offset, length), "from " + offset + ", " + length + " bytes");
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void whateverTheSsdAnswersTheBytesAreRight(Fault fault) throws IOException {
        volume.makeFile(0, 30, 60);
        volume.promote(0, 30);
        volume.ssd.fault = fault;
        assertArrayEquals(volume.expected(), volume.read(volume.engine()));
        assertEquals(
                fault == Fault.NONE ? 2 : 0, volume.distributor.statistics().ssdHits());
        boolean lies = fault == Fault.WRONG_BYTES || fault == Fault.SHORT;
        assertEquals(lies ? Set.of(volume.ids.get(0), volume.ids.get(30)) : Set.of(), volume.ssd.dropped);
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void theControlWithoutAHomeTheFaultIsSeen(Fault fault) throws IOException {
        volume.makeFile(0, 30);
        volume.promote(0, 30);
        volume.ssd.fault = fault;
        RestoreEngine engine = volume.engine(new NoHome(), false);
        if (fault == Fault.NONE) {
            assertArrayEquals(volume.expected(), volume.read(engine));
        } else {
            assertThrows(UncheckedIOException.class, () -> volume.read(engine));
        }
    }

    @Test
    void theControlWrongBytesWithARightCheckAreBelieved() throws IOException {
        List<byte[]> others = List.of(new byte[volume.chunks.get(0).length]);
        volume.makeFile(others, 0, 30);
        volume.ssd.copies.put(volume.ids.get(0), others.get(0));
        assertArrayEquals(volume.expected(), volume.read(volume.engine()));
        assertFalse(Arrays.equals(volume.chunks.get(0), Arrays.copyOf(volume.expected(), others.get(0).length)));
    }

    @Test
    void anSsdThatHangsDelaysAReaderAndNoMore() throws IOException {
        volume.makeFile(0, 30, 60);
        volume.promote(0, 30);
        volume.ssd.gate = new CountDownLatch(1);
        RestoreEngine engine = volume.engine();
        assertArrayEquals(volume.expected(), volume.read(engine));
        assertEquals(2, volume.distributor.statistics().late());
        assertEquals(3, volume.promotions.fromDisk.size());
        volume.ssd.gate.countDown();
    }

    @Test
    void anSsdThatHangsIsSoonNotAskedAnyMore() throws IOException {
        volume.makeFile(0, 60);
        volume.promote(0);
        volume.ssd.gate = new CountDownLatch(1);
        for (int i = 0; i < 3; i++) {
            assertArrayEquals(volume.expected(), volume.read(volume.engine()));
        }
        assertFalse(volume.distributor.isActive());
        assertArrayEquals(volume.expected(), volume.read(volume.engine()));
        assertEquals(3, volume.distributor.statistics().late());
    }

    @Test
    void withFingerprintVerificationCopiesAreNotUsed() throws IOException {
        volume.makeFile(0, 30);
        volume.promote(0, 30);
        assertArrayEquals(volume.expected(), volume.read(volume.engine(new FrameCache(1 << 20), true)));
        assertEquals(0, volume.ssd.chunksRead.get());
    }

    @Test
    void readersAtOnceAndDetachingMeanwhileReadRight() throws Exception {
        Random random = new Random(seed);
        volume.makeFile(random.ints(200, 0, CHUNKS).toArray());
        volume.promote(random.ints(70, 0, CHUNKS).toArray());
        RestoreEngine engine = volume.engine(new FrameCache(30_000), false);
        ExecutorService readers = Executors.newFixedThreadPool(5);
        try {
            List<Future<?>> reading = new ArrayList<>();
            for (int reader = 0; reader < 4; reader++) {
                Random own = new Random(seed + reader);
                reading.add(readers.submit(() -> {
                    for (int i = 0; i < 200; i++) {
                        checkRandomRange(engine, own);
                    }
                    return null;
                }));
            }
            Fault[] faults = {Fault.NONE, Fault.FAILS, Fault.NONE, Fault.SHORT};
            for (int i = 0; reading.stream().anyMatch(read -> !read.isDone()); i++) {
                volume.attached = i % 3 == 0 ? null : volume.ssd;
                volume.ssd.fault = faults[i % faults.length];
                Thread.onSpinWait();
            }
            for (Future<?> read : reading) {
                read.get();
            }
        } finally {
            readers.shutdownNow();
        }
    }

    /** A cache that is asked before home, and reports that home cannot be read. */
    private static final class NoHome extends FrameCache {
        NoHome() {
            super(0);
        }

        @Override
        void put(long container, int frame, Frame decoded) {
            throw new UncheckedIOException(new IOException("no home"));
        }
    }
}
