package org.opendedup.sar.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunkers;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.chunk.Fingerprinter;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.ForwardingChunkIndex;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.record.StoredCopies;

/**
 * A content that several threads bring at the same time is stored once. The tests force the orders in which the index
 * alone does not lead to it, and assert that it did not.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ContentsStoredOnceTest {
    private static final int CHUNK_BYTES = 4096;
    private static final int THREADS = 4;

    @TempDir
    Path folder;

    private final long seed = TestSeed.next();
    private final Random random = new Random(seed);
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    private final ExecutorService workers = Executors.newFixedThreadPool(2);
    private final AtomicInteger lookups = new AtomicInteger();
    /** Runs after each look-up, with the segment and the number of look-ups before. */
    private volatile AfterLookup afterLookup = (segment, before) -> {};

    private final Changes changes = new Changes();
    private MetadataStore metadata;
    private ContainerStore containers;
    private IngestPipeline pipeline;

    @FunctionalInterface
    private interface AfterLookup {
        void run(Segment segment, int before) throws Exception;
    }

    /** The change lock, which may fail once. */
    private static final class Changes extends ReentrantReadWriteLock.ReadLock {
        private static final long serialVersionUID = 1;
        private final AtomicBoolean fails = new AtomicBoolean();

        Changes() {
            super(new ReentrantReadWriteLock());
        }

        @Override
        public void lock() {
            if (fails.getAndSet(false)) {
                throw new IllegalStateException("on purpose");
            }
            super.lock();
        }
    }

    private final class Watched extends ForwardingChunkIndex {
        Watched(ChunkIndex index) {
            super(index);
        }

        @Override
        public void lookup(Segment segment) throws IOException {
            super.lookup(segment);
            try {
                afterLookup.run(segment, lookups.getAndIncrement());
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @BeforeEach
    void open() throws IOException {
        metadata = WrittenDuplicatesTest.emptyMetadata();
        containers = WrittenDuplicatesTest.containers(folder, metadata, THREADS + 1, workers);
        use(Chunking.SHA256);
    }

    private void use(Chunking chunking) {
        pipeline = new IngestPipeline(
                Chunkers.of(chunking),
                new IngestStores(
                        new Fingerprinter(workers, 1),
                        new Watched(new HeapChunkIndex()),
                        containers,
                        metadata,
                        new GracePeriod()),
                (inode, offset, target, at, length) -> {
                    throw new IOException("nothing is read");
                },
                changes,
                chunk -> false,
                THREADS,
                null);
    }

    @AfterEach
    void close() throws IOException {
        threads.shutdownNow();
        containers.close();
        metadata.close();
        workers.shutdownNow();
    }

    private byte[] bytes(int count) {
        byte[] data = new byte[count];
        random.nextBytes(data);
        return data;
    }

    private Future<?> store(long inode, byte[] bytes) {
        return threads.submit(() -> pipeline.store(
                new WrittenDuplicatesTest.Run(bytes),
                new IngestPipeline.Destination(inode, 0, -1, true),
                (from, to) -> {}));
    }

    private void storeAll(List<byte[]> contents) throws Exception {
        List<Future<?>> stored = new ArrayList<>();
        for (byte[] content : contents) {
            stored.add(store(1 + stored.size(), content));
        }
        ExecutionException failed = null;
        for (Future<?> each : stored) {
            try {
                each.get();
            } catch (ExecutionException e) {
                assertNull(failed, "several failed");
                failed = e;
            }
        }
        if (failed != null) {
            throw failed;
        }
    }

    private static int found(Segment segment) {
        int found = 0;
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            found += segment.hint(chunk) == ChunkId.NONE ? 0 : 1;
        }
        return found;
    }

    /** All threads look up, and find nothing, before one of them stores. */
    private void lookUpTogether() {
        CyclicBarrier together = new CyclicBarrier(THREADS);
        afterLookup = (segment, before) -> {
            if (before < THREADS) {
                assertEquals(0, found(segment), "the control: the index leads to a copy");
                together.await();
            }
        };
    }

    private void assertStored(long bytes) {
        StoredCopies stored = metadata.totals().stored();
        assertEquals(bytes, stored.bytes(), () -> "seed " + seed);
        assertEquals(0, stored.garbageBytes(), () -> "seed " + seed);
    }

    @Test
    void threadsThatLookUpTogetherStoreOneCopy() throws Exception {
        byte[] content = bytes(40 * CHUNK_BYTES);
        lookUpTogether();

        storeAll(List.of(content, content, content, content));

        assertStored(content.length);
        assertTrue(lookups.get() >= THREADS);
    }

    /** Each has first what others have last, so each waits for contents of the others. */
    @Test
    void threadsThatNeedContentsOfEachOtherEnd() throws Exception {
        byte[] one = bytes(40 * CHUNK_BYTES);
        byte[] two = bytes(40 * CHUNK_BYTES);
        lookUpTogether();

        storeAll(List.of(joined(one, two), joined(two, one), joined(one, two), joined(two, one)));

        assertStored(one.length + two.length);
    }

    @Test
    void aCopyThatIsInsertedAfterTheLookUpIsFound() throws Exception {
        byte[] content = bytes(40 * CHUNK_BYTES);
        CountDownLatch lookedUp = new CountDownLatch(1);
        CountDownLatch otherEnded = new CountDownLatch(1);
        afterLookup = (segment, before) -> {
            if (before == 0) {
                assertEquals(0, found(segment), "the control: the index leads to a copy");
                lookedUp.countDown();
                otherEnded.await();
            }
        };
        Future<?> slow = store(1, content);
        lookedUp.await();
        store(2, content).get();
        otherEnded.countDown();
        slow.get();

        assertStored(content.length);
    }

    @Test
    void whatOneThreadFailsToStoreIsStoredByAnother() throws Exception {
        byte[] content = bytes(40 * CHUNK_BYTES);
        lookUpTogether();
        // Of the thread that appended its copies: the others wait for these.
        changes.fails.set(true);

        ExecutionException failed =
                assertThrows(ExecutionException.class, () -> storeAll(List.of(content, content, content, content)));

        assertEquals("on purpose", failed.getCause().getMessage());
        assertStored(content.length);
    }

    /** What is shifted has the same chunks from the first common cut on. */
    @Test
    void shiftedContentsStoreNoMoreThanOneAfterTheOther() throws Exception {
        byte[] content = bytes(2 << 20);
        List<byte[]> shifted = List.of(
                content, joined(bytes(1000), content), joined(bytes(70_000), content), joined(bytes(5), content));
        use(Chunking.VARIABLE_SHA256);
        for (byte[] each : shifted) {
            store(each.length, each).get();
        }
        long expected = metadata.totals().stored().bytes();
        assertTrue(expected < 3 << 20, () -> "duplicates are found: " + expected);

        // With an index that knows nothing of the above, all is stored once more.
        use(Chunking.VARIABLE_SHA256);
        lookups.set(0);
        lookUpTogether();
        storeAll(shifted);
        assertEquals(2 * expected, metadata.totals().stored().bytes(), () -> "seed " + seed);
    }

    @Test
    void anyMixtureIsStoredOnce() throws Exception {
        List<byte[]> blocks = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            blocks.add(bytes(CHUNK_BYTES));
        }
        Set<Integer> used = new HashSet<>();
        List<byte[]> contents = new ArrayList<>();
        for (int i = 0; i < TestSeed.rounds(60); i++) {
            ByteBuffer content = ByteBuffer.allocate((20 + random.nextInt(200)) * CHUNK_BYTES);
            int block = random.nextInt(blocks.size());
            while (content.hasRemaining()) {
                // Mostly one after the other, as in copies of one tree.
                block = random.nextInt(20) == 0 ? random.nextInt(blocks.size()) : (block + 1) % blocks.size();
                content.put(blocks.get(block));
                used.add(block);
            }
            contents.add(content.array());
        }

        storeAll(contents);

        assertStored((long) used.size() * CHUNK_BYTES);
    }

    private static byte[] joined(byte[] first, byte[] second) {
        return ByteBuffer.allocate(first.length + second.length)
                .put(first)
                .put(second)
                .array();
    }
}
