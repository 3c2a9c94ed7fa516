package org.opendedup.sar.index.chunkstash;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.ChunkIndexContract;
import org.opendedup.sar.index.CoveredContainers;
import org.opendedup.sar.index.IndexSpace;
import org.opendedup.sar.index.TestSegments;
import org.opendedup.sar.index.rocksdb.DiskIndexFolder;
import org.opendedup.sar.io.CrashDirectory;

/** The contract with so little space for the log that nearly all is moved to the disk index behind it. */
class RecycledChunkStashIndexTest extends ChunkIndexContract {
    /** The smallest table, and about 60 kB for the log. */
    static final long MOST_BYTES = (65_536 * 6) + 70_000;

    private static final int SLOTS = 200;
    private static final long DISK_MEMORY_BYTES = 4 << 20;

    @Override
    protected ChunkIndex open() throws IOException {
        return open(IndexSpace.of(MOST_BYTES));
    }

    private ChunkStashIndex open(IndexSpace space) throws IOException {
        return ChunkStashIndexFactory.open(fast(), SmallChunkStashIndexTest.SMALL, new StashLimits(space, place()));
    }

    private DiskIndexFolder place() {
        return new DiskIndexFolder(folder.resolve("disk"), DISK_MEMORY_BYTES);
    }

    private Path fast() {
        return folder.resolve("hashdb");
    }

    private static void fill(ChunkIndex index, long container) throws IOException {
        TestSegments.store(index, container * SLOTS, SLOTS, container);
        index.cover(container, new byte[] {(byte) container});
    }

    private static void fill(ChunkIndex index, int from, int to) throws IOException {
        for (int container = from; container <= to; container++) {
            fill(index, container);
        }
    }

    private static int foundOf(ChunkIndex index, long container) throws IOException {
        return TestSegments.found(index, container * SLOTS, SLOTS, container);
    }

    private static void assertAllFound(ChunkIndex index, int containers) throws IOException {
        for (int container = 1; container <= containers; container++) {
            assertEquals(SLOTS, foundOf(index, container), "container " + container);
        }
    }

    private StashStatistics statistics() throws IOException {
        return ((ChunkStashIndex) index).statistics();
    }

    private long fastBytes() throws IOException {
        try (Stream<Path> files = Files.list(fast())) {
            long bytes = 0;
            for (Path file : files.toList()) {
                bytes += Files.size(file);
            }
            return bytes;
        }
    }

    @Test
    void theFilesNeverExceedTheBoundAndNothingIsLost() throws IOException {
        int containers = 150;
        for (int container = 1; container <= containers; container++) {
            fill(index, container);
            assertTrue(fastBytes() <= MOST_BYTES, fastBytes() + " bytes after container " + container);
        }
        assertTrue(statistics().moves() > 50, statistics().moves() + " moves");
        assertTrue(
                index.use().disk().chunks() > (containers - 20) * SLOTS,
                index.use().toString());
        for (int again = 0; again < 2; again++) {
            for (int container = 1; container <= containers; container++) {
                assertEquals(SLOTS, foundOf(index, container), "container " + container);
                assertArrayEquals(new byte[] {(byte) container}, index.frameTable(container));
            }
            assertEquals(containers * SLOTS, index.estimatedChunks());
            assertEquals(containers, covered().size());
            assertEquals(ChunkIndex.Exactness.EXACT, index.exactness());
            index = reopen();
            assertTrue(fastBytes() <= MOST_BYTES, fastBytes() + " bytes after an opening");
        }
        assertTrue(index.use().disk().asked() == 0);
        foundOf(index, 3);
        assertEquals(SLOTS, index.use().disk().found());
    }

    /** The control of the test above: without a bound the log has more. */
    @Test
    void controlWithoutABoundNothingIsMoved() throws IOException {
        index.close();
        index = open(IndexSpace.UNBOUNDED);
        fill(index, 1, 150);
        assertEquals(0, statistics().moves());
        assertTrue(fastBytes() > MOST_BYTES);
        assertFalse(Files.exists(folder.resolve("disk")));
    }

    /** The other control: with a bound and nothing behind it, what does not fit is refused. */
    @Test
    void controlWithNothingBehindItAFullIndexRefuses() throws IOException {
        index.close();
        Path other = folder.resolve("other");
        try (ChunkIndex alone = ChunkStashIndexFactory.open(
                other, SmallChunkStashIndexTest.SMALL, new StashLimits(IndexSpace.of(MOST_BYTES), null))) {
            assertThrows(NoSpaceException.class, () -> {
                fill(alone, 1, 150);
            });
            assertEquals(SLOTS, foundOf(alone, 1));
        }
        index = open();
    }

    private List<Long> covered() throws IOException {
        return CoveredContainers.of(index);
    }

    @Test
    void whatIsRemovedIsGoneOnTheDiskToo() throws IOException {
        for (int container = 1; container <= 100; container++) {
            fill(index, container);
            if (container % 2 == 0) {
                TestSegments.remove(index, (container / 2) * SLOTS, SLOTS, container / 2);
            }
        }
        for (int again = 0; again < 2; again++) {
            for (int container = 1; container <= 100; container++) {
                assertEquals(container <= 50 ? 0 : SLOTS, foundOf(index, container), "container " + container);
            }
            assertEquals(50 * SLOTS, index.estimatedChunks());
            assertEquals(50, covered().size());
            index = reopen();
        }
    }

    /** The bound falls while the index is in use: it gives the space back. */
    @Test
    void aBoundThatFallsMovesWhatIsTooMuch() throws IOException {
        index.close();
        AtomicLong most = new AtomicLong(10 * MOST_BYTES);
        AtomicLong used = new AtomicLong();
        ChunkStashIndex bounded = open(new IndexSpace() {
            @Override
            public long mostBytes() {
                return most.get();
            }

            @Override
            public void used(long bytes) {
                used.set(bytes);
            }
        });
        index = bounded;
        fill(index, 1, 150);
        assertEquals(0, statistics().moves());
        assertTrue(used.get() >= fastBytes() && used.get() > MOST_BYTES, used + " used");
        most.set(MOST_BYTES);
        fill(index, 151);
        assertTrue(used.get() <= MOST_BYTES && fastBytes() <= MOST_BYTES, used + " used, " + fastBytes());
        assertAllFound(index, 151);
    }

    /** Segments of usual length against the bytes that stay free. */
    private static final StashSettings LONG_SEGMENTS = new StashSettings(4 << 20, StashWriter.MOST_OPEN + 1, 1 << 20);

    private static final int MANY_CONTAINERS = 800;

    @Test
    void aFullDeviceCountsAsFull() throws IOException {
        CrashDirectory device = new CrashDirectory(1);
        device.noSpaceAfter(5 << 20);
        CrashDiskIndexes behind = new CrashDiskIndexes(CrashDiskIndexes.Fault.NONE);
        try (ChunkIndex full = ChunkStashIndexFactory.open(
                device, LONG_SEGMENTS, new StashLimits(IndexSpace.UNBOUNDED, behind), () -> {})) {
            fill(full, 1, MANY_CONTAINERS);
            assertTrue(behind.moves() > 0, "segments were moved");
            assertEquals(0, device.refusedAppends());
            assertAllFound(full, MANY_CONTAINERS);
        }
    }

    /** Something else fills the device at once: what is refused is stored again, and nothing else is lost. */
    @Test
    void aDeviceThatOthersFillRefusesUntilThereIsRoom() throws IOException {
        CrashDirectory device = new CrashDirectory(1);
        CrashDiskIndexes behind = new CrashDiskIndexes(CrashDiskIndexes.Fault.NONE);
        StashLimits limits = new StashLimits(IndexSpace.UNBOUNDED, behind);
        try (ChunkIndex full = ChunkStashIndexFactory.open(device, LONG_SEGMENTS, limits, () -> {})) {
            fill(full, 1, 20);
            device.noSpaceAfter(0);
            assertThrows(NoSpaceException.class, () -> fill(full, 21));
            device.noSpaceAfter(Long.MAX_VALUE);
            fill(full, 21, 40);
        }
        try (ChunkIndex again = ChunkStashIndexFactory.open(device, LONG_SEGMENTS, limits, () -> {})) {
            assertAllFound(again, 40);
        }
    }

    /** The control: with nothing behind it the same device refuses. */
    @Test
    void controlAFullDeviceRefusesWithNothingBehindIt() throws IOException {
        CrashDirectory device = new CrashDirectory(1);
        device.noSpaceAfter(5 << 20);
        try (ChunkIndex full = ChunkStashIndexFactory.open(device, LONG_SEGMENTS, StashLimits.NONE, () -> {})) {
            assertThrows(NoSpaceException.class, () -> {
                fill(full, 1, MANY_CONTAINERS);
            });
        }
    }

    @Test
    void aMissingOrOlderDiskIndexIsDamage() throws IOException {
        fill(index, 1, 40);
        index.close();
        long generation = ChunkStashIndexFactory.generation(fast());
        place().deleteOthers(generation + 1);
        assertThrows(CorruptionException.class, this::open);
        place().open(generation).close();
        assertThrows(CorruptionException.class, this::open, "an empty one has no moves");
        ChunkStashIndexFactory.destroy(fast());
        index = open();
        assertEquals(0, foundOf(index, 1));
    }

    @Test
    void aClearedIndexHasANewDiskIndex() throws IOException {
        fill(index, 1, 40);
        index.clear();
        assertEquals(0, index.use().disk().chunks());
        try (Stream<Path> left = Files.list(folder.resolve("disk"))) {
            assertEquals(0, left.count());
        }
        for (int container = 1; container <= 40; container++) {
            assertEquals(0, foundOf(index, container));
            fill(index, container);
        }
        index = reopen();
        assertEquals(40 * SLOTS, index.estimatedChunks());
    }
}
