package org.opendedup.sar.ingest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunkers;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.chunk.Fingerprinter;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.container.ContainerOptions;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.HeapContainerTable;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.hot.copies.AccessListener;
import org.opendedup.sar.hot.copies.CountSource;
import org.opendedup.sar.hot.copies.Refusal;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.Recipes;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.ssd.ChunkRequest;

/** Records the writes that the promotion is informed of. */
class WrittenDuplicatesTest {
    private static final int PAGE_BYTES = 64 << 10;
    private static final int CHUNK_BYTES = 4096;

    @TempDir
    Path folder;

    private final Random random = new Random(TestSeed.next());
    private final ReentrantReadWriteLock changes = new ReentrantReadWriteLock();
    private final ExecutorService threads = Executors.newFixedThreadPool(2);
    private final List<Told> told = new ArrayList<>();
    private boolean active = true;
    private MetadataStore metadata;
    private ContainerStore containers;
    private IngestPipeline pipeline;
    private int missed;

    private record Told(long inode, long chunkId, int references, byte[] bytes) {}

    /** The only run of a file. */
    record Run(byte[] bytes) implements ByteRun {
        @Override
        public long start() {
            return 0;
        }

        @Override
        public long end() {
            return bytes.length;
        }

        @Override
        public void copy(long from, byte[] target, int at, int length) {
            System.arraycopy(bytes, (int) from, target, at, length);
        }
    }

    private final class Promotions implements AccessListener {
        @Override
        public void onDuplicatesMissed(int duplicates, Refusal why) {
            assertEquals(Refusal.UNAVAILABLE, why);
            missed += duplicates;
        }

        @Override
        public boolean isActive() {
            return active;
        }

        @Override
        public void onDuplicatesWritten(long inode, ChunkRequest duplicates) {
            assertEquals(0, changes.getReadLockCount(), "outside the change lock");
            for (int i = 0; i < duplicates.count(); i++) {
                int offset = duplicates.offset(i);
                byte[] bytes = Arrays.copyOfRange(duplicates.data(i), offset, offset + duplicates.length(i));
                told.add(new Told(inode, duplicates.chunkId(i), duplicates.references(i), bytes));
            }
        }

        @Override
        public void onChunksRead(ChunkRequest request, CountSource counts) {
            throw new AssertionError("nothing is read");
        }
    }

    @BeforeEach
    void open() throws IOException {
        metadata = emptyMetadata();
        containers = containers(folder, metadata, 3, threads);
        pipeline = new IngestPipeline(
                Chunkers.of(Chunking.SHA256),
                new IngestStores(
                        new Fingerprinter(threads, 1), new HeapChunkIndex(), containers, metadata, new GracePeriod()),
                (inode, offset, target, at, length) -> {
                    throw new IOException("nothing is read");
                },
                changes.readLock(),
                chunk -> false,
                1,
                new Promotions());
    }

    static MetadataStore emptyMetadata() throws IOException {
        return MetadataStore.format(
                new HeapKeyValueStore(),
                new MetadataHeader(new UUID(1, 1), PAGE_BYTES, 0, MetadataHeader.FORMAT_VERSION));
    }

    static ContainerStore containers(Path folder, MetadataStore metadata, int mostOpen, ExecutorService workers)
            throws IOException {
        return ContainerStore.open(
                FileDirectory.open(folder),
                new ContainerOptions(
                        new Compression(Compression.Codec.LZ4, 0, 16 << 10),
                        1 << 20,
                        200,
                        mostOpen,
                        1 << 20,
                        ContainerCipher.NONE),
                metadata::nextContainer,
                new HeapContainerTable(),
                container -> null,
                (container, table) -> {},
                workers,
                100_000);
    }

    @AfterEach
    void close() throws IOException {
        containers.close();
        metadata.close();
        threads.shutdownNow();
    }

    private byte[] randomBytes(int chunks) {
        byte[] bytes = new byte[chunks * CHUNK_BYTES];
        random.nextBytes(bytes);
        return bytes;
    }

    private void write(long inode, byte[] bytes) throws IOException {
        pipeline.store(new Run(bytes), new IngestPipeline.Destination(inode, 0, -1, true), (from, to) -> {});
    }

    @Test
    void duplicatesAreToldWithTheirBytesAndReferences() throws IOException {
        byte[] bytes = randomBytes(5);
        write(1, bytes);
        assertEquals(List.of(), told.stream().map(Told::chunkId).toList(), "all was new");
        for (int inode = 2; inode <= 4; inode++) {
            told.clear();
            write(inode, bytes);
            assertEquals(5, told.size());
            for (int i = 0; i < 5; i++) {
                assertEquals(inode, told.get(i).inode());
                assertEquals(inode, told.get(i).references());
                byte[] chunk = Arrays.copyOfRange(bytes, i * CHUNK_BYTES, (i + 1) * CHUNK_BYTES);
                assertArrayEquals(chunk, told.get(i).bytes());
            }
        }
    }

    @Test
    void aDuplicateWithinASegmentIsToldAndZerosAreNot() throws IOException {
        byte[] chunk = randomBytes(1);
        byte[] bytes = new byte[4 * CHUNK_BYTES];
        System.arraycopy(chunk, 0, bytes, 0, CHUNK_BYTES);
        System.arraycopy(chunk, 0, bytes, 3 * CHUNK_BYTES, CHUNK_BYTES);
        write(1, bytes);
        assertEquals(1, told.size());
        assertEquals(2, told.get(0).references());
        assertArrayEquals(chunk, told.get(0).bytes());
    }

    @Test
    void whenNobodyListensDuplicatesAreCountedAndNothingIsGathered() throws IOException {
        active = false;
        byte[] bytes = randomBytes(3);
        write(1, bytes);
        write(2, bytes);
        assertEquals(List.of(), told);
        assertEquals(3, missed);
    }

    @Test
    void whoeverListensHearsOfEachCountThatFallsToZero() throws IOException {
        List<Long> unreferenced = new ArrayList<>();
        metadata.counts().listen(unreferenced::add);
        write(1, randomBytes(3));
        write(2, randomBytes(2));
        assertEquals(List.of(), unreferenced);
        Recipes.removePages(metadata, 1, 0, 10);
        assertEquals(3, unreferenced.size());
        for (long chunk : unreferenced) {
            assertEquals(0, metadata.counts().count(chunk));
            assertTrue(metadata.counts().isAlive(chunk));
        }
    }

    @Test
    void countsInBulkAreThoseOneByOne() throws IOException {
        byte[] bytes = randomBytes(40);
        write(1, bytes);
        write(2, Arrays.copyOf(bytes, 10 * CHUNK_BYTES));
        long[] ids = told.stream().mapToLong(Told::chunkId).toArray();
        ids = Arrays.copyOf(ids, ids.length + 1);
        ids[ids.length - 1] = ChunkId.of(1L << 30, 3);
        int[] counts = new int[ids.length];
        metadata.counts().occurrences(ids, ids.length, counts);
        for (int i = 0; i < ids.length; i++) {
            assertEquals(metadata.counts().count(ids[i]), counts[i]);
        }
        assertEquals(2, counts[0]);
        assertEquals(0, counts[ids.length - 1], "does not exist");
    }
}
