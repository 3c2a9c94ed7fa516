package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.FileDirectory;

@TestCiphers.PlainAndEncrypted
final class ContainerStoreTest extends StoreTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(Compression.Codec.class)
    void chunksComeBackBeforeAndAfterForceSealAndReopening(Compression.Codec codec) throws IOException {
        fixture.options = StoreFixture.options(codec);
        FileDirectory disk = FileDirectory.open(folder);
        try (ContainerStore store = fixture.open(disk)) {
            appendSome(store, 1, 300, 2000);
            chunks.assertAllReadable(store);
            fixture.commit(store);
            appendSome(store, 2, 300, 10_000);
            chunks.assertAllReadable(store);
            fixture.sealAll(store);
            chunks.assertAllReadable(store);
            appendSome(store, 1, 10, 2000);
            fixture.sealAll(store);
        }
        try (ContainerStore store = fixture.open(disk)) {
            assertEquals(List.of(), store.recovered());
            assertEquals(fixture.frameTables.size(), store.containers());
            chunks.assertAllReadable(store);
        }
        fixture.frameTables.clear();
        try (ContainerStore store = fixture.open(disk)) {
            chunks.assertAllReadable(store);
        }
    }

    /** More containers than may be open at once are sealed while the index hears of none. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aCommitDoesNotWaitForAnIndexThatHangs() throws Exception {
        CountDownLatch goesOn = new CountDownLatch(1);
        Set<Long> told = ConcurrentHashMap.newKeySet();
        Set<Long> sealed = new HashSet<>();
        SealListener hanging = (container, table) -> {
            Uninterruptibles.awaitUninterruptibly(goesOn);
            told.add(container);
        };
        ContainerStore store = fixture.open(new CrashDirectory(seed), fixture.frameTables::get, hanging);
        try {
            for (int commit = 0; commit < 3 * fixture.options.maxOpenContainers(); commit++) {
                appendSome(store, 1, 10, 3000);
                fixture.sealAll(store);
            }
            store.forEachContainer(sealed::add);
            assertTrue(sealed.size() > 2 * fixture.options.maxOpenContainers());
            assertEquals(Set.of(), told, "the control: it hangs");
        } finally {
            goesOn.countDown();
            store.close();
        }
        assertEquals(sealed, told);
    }

    @Test
    void chunksOfFramesThatWaitForAWorkerAreCounted() throws IOException {
        try (ContainerStore store = fixture.open(new CrashDirectory(seed))) {
            CountDownLatch busy = new CountDownLatch(1);
            for (int worker = 0; worker < StoreFixture.WORKERS; worker++) {
                fixture.workers.execute(() -> awaitQuietly(busy));
            }
            appendSome(store, 1, 20, 2000);
            Map<Long, Integer> appended = chunks.byId.keySet().stream()
                    .collect(Collectors.groupingBy(ChunkId::container, Collectors.summingInt(id -> 1)));
            assertTrue(appended.keySet().stream().anyMatch(container -> !store.isSealed(container)));
            appended.forEach((container, count) -> {
                if (!store.isSealed(container)) {
                    assertEquals(count, store.appendedChunks(container));
                }
            });
            long written = 0;
            for (long container : appended.keySet()) {
                written += store.frameTable(container).slots();
            }
            assertTrue(written < chunks.byId.size(), "no frame waits: this shows nothing");
            busy.countDown();
            fixture.sealAll(store);
            for (long container : appended.keySet()) {
                assertEquals(0, store.appendedChunks(container));
                assertEquals(
                        appended.get(container), store.frameTable(container).slots());
            }
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aChunkLargerThanAFrameIsAFrameOfItsOwn() throws IOException {
        try (ContainerStore store = fixture.open(new CrashDirectory(seed))) {
            byte[] large = new byte[100_000];
            random.nextBytes(large);
            long before;
            long id;
            try (ContainerWriter writer = store.writer(1)) {
                before = chunks.append(writer, new byte[] {1, 2, 3});
                id = chunks.append(writer, large);
            }
            fixture.commit(store);
            Frame frame = store.frame(ChunkId.container(id), store.frameOf(id), true);
            assertEquals(1, frame.count());
            assertArrayEquals(large, frame.data());
            assertThrows(IllegalArgumentException.class, () -> frame.offset(ChunkId.slot(before)));
            chunks.assertAllReadable(store);
        }
    }

    @Test
    void aFrameThatWasReadDoesNotChange() throws IOException {
        try (ContainerStore store = fixture.open(new CrashDirectory(seed));
                ContainerWriter writer = store.writer(1)) {
            long first = chunks.append(writer, new byte[] {1});
            int frame = store.frameOf(first);
            assertEquals(1, store.frame(ChunkId.container(first), frame, false).count());
            long second = chunks.append(writer, new byte[] {2});
            assertEquals(frame + 1, store.frameOf(second));
            fixture.commit(store);
            assertEquals(1, store.frame(ChunkId.container(first), frame, false).count());
            chunks.assertAllReadable(store);
        }
    }

    @Test
    void neighboursAreReadByOneRequest() throws IOException {
        try (ContainerStore store = fixture.open(new CrashDirectory(seed))) {
            appendSome(store, 1, 100, 1000);
            fixture.sealAll(store);
            FrameTable table = store.frameTable(1);
            assertTrue(table.frames() >= 5, "enough frames: " + table.frames());
            List<Integer> seen = new ArrayList<>();
            FrameConsumer consumer = collecting(seen);
            long before = store.readStatistics().diskReads();
            store.readFrames(1, new int[] {0, 1, 3, 4, 9}, 4, table.fileLength(2), consumer);
            assertEquals(1, store.readStatistics().diskReads() - before);
            store.readFrames(1, new int[] {0, 1, 3, 4}, 4, table.fileLength(2) - 1, consumer);
            assertEquals(3, store.readStatistics().diskReads() - before);
            assertEquals(List.of(0, 1, 3, 4, 0, 1, 3, 4), seen);
        }
    }

    @Test
    void framesThatNobodyKeepsAreDecodedIntoOneArray() throws IOException {
        try (ContainerStore store = fixture.open(new CrashDirectory(seed))) {
            appendSome(store, 1, 100, 1000);
            fixture.sealAll(store);
            int[] all = {0, 1, 2, 3, 4};
            // The control: each frame that may be kept has its own.
            assertEquals(all.length, arraysOf(store, all, true).size());
            assertEquals(1, arraysOf(store, all, false).size());
        }
    }

    /** Returns the arrays that a consumer received; what they had at that time is compared with single frames. */
    private static Set<byte[]> arraysOf(ContainerStore store, int[] frames, boolean keeps) throws IOException {
        Set<byte[]> arrays = Collections.newSetFromMap(new IdentityHashMap<>());
        store.readFrames(1, frames, frames.length, 1 << 20, new FrameConsumer() {
            @Override
            public boolean keepsFrames() {
                return keeps;
            }

            @Override
            public void frame(int frame, Frame contents) {
                arrays.add(contents.data());
                try {
                    Frame single = store.frame(1, frame, true);
                    int last = contents.firstSlot() + contents.count() - 1;
                    assertEquals(single.count(), contents.count());
                    assertEquals(
                            single.offset(last) + single.length(last), contents.offset(last) + contents.length(last));
                    assertTrue(Arrays.equals(
                            single.data(), 0, single.data().length, contents.data(), 0, single.data().length));
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }

            @Override
            public void damaged(int frame, IOException failure) {
                throw new AssertionError(failure);
            }
        });
        return arrays;
    }

    private static FrameConsumer collecting(List<Integer> seen) {
        return new FrameConsumer() {
            @Override
            public void frame(int frame, Frame contents) {
                seen.add(frame);
            }

            @Override
            public void damaged(int frame, IOException failure) {
                throw new AssertionError(failure);
            }
        };
    }

    @Test
    void whatDoesNotExistIsCorruptionOrABadArgument() throws IOException {
        try (ContainerStore store = fixture.open(new CrashDirectory(seed))) {
            appendSome(store, 1, 10, 100);
            assertThrows(CorruptionException.class, () -> store.frameOf(ChunkId.of(1, 10)));
            assertThrows(CorruptionException.class, () -> store.frameOf(ChunkId.of(77, 0)));
            fixture.sealAll(store);
            assertThrows(CorruptionException.class, () -> store.frameOf(ChunkId.of(1, 10)));
            assertThrows(IllegalArgumentException.class, () -> store.frame(1, 5, false));
            assertThrows(CorruptionException.class, () -> store.directory(77));
        }
    }

    @Test
    void streamsAreKeptApartAndSmallOnesTogether() throws IOException {
        try (ContainerStore store = fixture.open(new CrashDirectory(seed))) {
            ContainerWriter first = store.writer(1);
            ContainerWriter second = store.writer(2);
            byte[] frameful = new byte[4096];
            long a = first.append(frameful, 0, 4096, TestChunks.fingerprint(frameful), 0);
            long b = second.append(frameful, 0, 4096, TestChunks.fingerprint(frameful), 0);
            assertNotEquals(ChunkId.container(a), ChunkId.container(b));
            first.close();
            second.close();
            second.close();
            assertEquals(ChunkId.container(a), containerOf(store, 1));
            assertEquals(ChunkId.container(b), containerOf(store, 2));
            long small = containerOf(store, 3);
            assertNotEquals(ChunkId.container(a), small);
            assertNotEquals(ChunkId.container(b), small);
            assertEquals(small, containerOf(store, 4));
            List<ContainerWriter> many = new ArrayList<>();
            Set<Long> containers = new HashSet<>();
            for (int stream = 10; stream < 20; stream++) {
                ContainerWriter writer = store.writer(stream);
                many.add(writer);
                containers.add(ChunkId.container(chunks.append(writer, new byte[] {(byte) stream})));
            }
            assertEquals(3, containers.size());
            many.forEach(ContainerWriter::close);
        }
    }

    private static long containerOf(ContainerStore store, long stream) throws IOException {
        try (ContainerWriter writer = store.writer(stream)) {
            return ChunkId.container(writer.append(new byte[] {1}, 0, 1, new byte[Fingerprints.BYTES], 0));
        }
    }

    @Test
    void aTableOfTheSourceThatIsDamagedIsNotUsed() throws IOException {
        CrashDirectory disk = new CrashDirectory(seed);
        try (ContainerStore store = fixture.open(disk)) {
            appendSome(store, 1, 50, 1000);
            fixture.sealAll(store);
        }
        fixture.frameTables.values().forEach(table -> table[table.length / 2] ^= 4);
        try (ContainerStore store = fixture.open(disk)) {
            chunks.assertAllReadable(store);
            assertFalse(store.isLost(ChunkId.of(1, 0)));
            assertNull(fixture.frameTables.get(999L));
        }
    }
}
