package org.opendedup.sar.disks;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.CoveredContainers;
import org.opendedup.sar.volume.store.ChunkIndexes;

/**
 * The fingerprint index on a device that becomes full: it immediately refuses entries that it cannot store, continues
 * to answer, and accepts more when there is space.
 */
@Timeout(300)
class FullIndexTest {
    private static final long DISK_BYTES = 128L << 20;
    private static final int CONTAINER_SLOTS = 1000;
    /** Many times the entries that are kept in memory before a flush. */
    private static final int MAX_CHUNKS = 3_000_000;

    private static final long RECOVERY_NS = TimeUnit.SECONDS.toNanos(60);

    @TempDir
    Path folder;

    @Test
    void anIndexOnAFullDeviceRefusesAndGoesOnWhenThereIsSpace() throws Exception {
        try (LoopDisk disk = new LoopDisk(folder, DISK_BYTES)) {
            Path place = disk.folder().resolve("hdb");
            Path hog = disk.folder().resolve("hog");
            int refusedAt;
            int last;
            try (ChunkIndex index = ChunkIndexes.openRocksDb(place, ChunkIndexes.MIN_MEMORY_BYTES)) {
                for (int i = 0; i < 1000; i++) {
                    insert(index, i);
                }
                index.flush();
                Commands.run("dd", "if=/dev/zero", "of=" + hog, "bs=4096");
                refusedAt = insertUntilRefused(index, 1000);
                assertTrue(found(index, 1) && !found(index, MAX_CHUNKS + 1), "the index does not answer any more");
                Files.delete(hog);
                last = awaitInsert(index, refusedAt);
                index.flush();
                assertTrue(found(index, 1) && found(index, last));
            }
            try (ChunkIndex index = ChunkIndexes.openRocksDb(place, ChunkIndexes.MIN_MEMORY_BYTES)) {
                assertTrue(found(index, 1) && found(index, last));
                // A container reported as covered has all its fingerprints, whatever was refused in between.
                CoveredContainers.of(index).forEach(container -> assertCovered(index, container));
                // The control: one that is covered without its fingerprints.
                long empty = ChunkId.container(chunkId(2 * MAX_CHUNKS));
                index.cover(empty, new byte[100]);
                AssertionError found = assertThrows(
                        AssertionError.class,
                        () -> CoveredContainers.of(index).forEach(container -> assertCovered(index, container)));
                assertTrue(found.getMessage().contains(" of covered container " + empty), found::getMessage);
            }
        }
    }

    private static int insertUntilRefused(ChunkIndex index, int from) {
        for (int i = from; i < from + MAX_CHUNKS; i++) {
            try {
                insert(index, i);
            } catch (IOException e) {
                assertTrue(String.valueOf(e.getMessage()).contains("No space left on device"), e::toString);
                return i;
            }
        }
        throw new AssertionError("a full device takes everything");
    }

    private static int awaitInsert(ChunkIndex index, int from) throws InterruptedException {
        long start = System.nanoTime();
        for (int i = from - from % CONTAINER_SLOTS + CONTAINER_SLOTS; ; i++) {
            try {
                insert(index, i);
                return i;
            } catch (IOException e) {
                assertTrue(System.nanoTime() - start < RECOVERY_NS, e::toString);
                Thread.sleep(50);
            }
        }
    }

    /** Chunk {@code i}; with the last one of a container, the container is covered. */
    private static void insert(ChunkIndex index, int i) throws IOException {
        index.insert(fingerprint(i), 0, chunkId(i));
        if (i % CONTAINER_SLOTS == CONTAINER_SLOTS - 1) {
            index.cover(ChunkId.container(chunkId(i)), new byte[100]);
        }
    }

    private static long chunkId(int i) {
        return ChunkId.of(1 + i / CONTAINER_SLOTS, i % CONTAINER_SLOTS);
    }

    private static byte[] fingerprint(int i) {
        ByteBuffer fingerprint = ByteBuffer.allocate(Fingerprints.BYTES);
        long mixed = i * 0x9E3779B97F4A7C15L;
        return fingerprint.putLong(mixed).putLong(~mixed).putInt(i).array();
    }

    private static boolean found(ChunkIndex index, int i) throws IOException {
        Segment segment = new Segment(0);
        segment.add(0, 1, false);
        System.arraycopy(fingerprint(i), 0, segment.fingerprints(), 0, Fingerprints.BYTES);
        index.lookup(segment);
        return segment.chunkId(0) == chunkId(i);
    }

    private static void assertCovered(ChunkIndex index, long container) {
        try {
            for (int slot = 0; slot < CONTAINER_SLOTS; slot++) {
                int i = (int) (container - 1) * CONTAINER_SLOTS + slot;
                assertTrue(found(index, i), () -> "chunk " + i + " of covered container " + container);
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
