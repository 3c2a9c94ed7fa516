package org.opendedup.sar.volume.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.TimeLimit;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;

/** A database whose opening hangs does not hang the mount; the thread that hangs does no harm when it goes on. */
class IndexLocationTest {
    private static final Duration SHORT = Duration.ofMillis(100);
    private static final Duration LONG = Duration.ofMinutes(10);

    @MemoryFolder
    private Path folder;

    private Path location;
    private final CountDownLatch goesOn = new CountDownLatch(1);
    private final CountDownLatch hangs = new CountDownLatch(1);
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    @BeforeEach
    void makeIndex() throws IOException {
        location = folder.resolve("hashdb");
        real(location).close();
    }

    @AfterEach
    void letGo() {
        goesOn.countDown();
    }

    private static ChunkIndex real(Path database) throws IOException {
        return ChunkIndexes.openRocksDb(database, ChunkIndexes.MIN_MEMORY_BYTES);
    }

    /** Hangs at the database in the location's own folder; then it really opens it, as RocksDB would go on. */
    private ChunkIndex openHanging(Path database) throws IOException {
        if (!database.equals(location)) {
            return new HeapChunkIndex();
        }
        hangs.countDown();
        try {
            goesOn.await();
            return new ClosingIndex(real(database)).watched();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    /** Tells when the index that opened too late is closed. */
    private final class ClosingIndex {
        private final ChunkIndex index;

        ClosingIndex(ChunkIndex index) {
            this.index = index;
        }

        ChunkIndex watched() {
            return (ChunkIndex) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {ChunkIndex.class}, (proxy, method, arguments) -> {
                        Object result = method.invoke(index, arguments);
                        if (method.getName().equals("close")) {
                            ended.complete(null);
                        }
                        return result;
                    });
        }
    }

    private interface Opening {
        ChunkIndex open(Path database) throws IOException;
    }

    private IndexLocation location(Opening opening, Duration limit) {
        return new IndexLocation(
                location,
                IndexClass.ROCKSDB,
                (kind, database) -> opening.open(database),
                new TimeLimit("test-index-open", limit));
    }

    private Set<String> names(Path place) throws IOException {
        try (Stream<Path> list = Files.list(place)) {
            return list.map(path -> path.getFileName().toString()).collect(Collectors.toSet());
        }
    }

    @Test
    void anIndexThatHangsGetsASuccessorThatItsThreadDoesNotTouch() throws Exception {
        ChunkIndex heap = location(this::openHanging, Duration.ofSeconds(5)).open();
        assertEquals(0, heap.highestContainer());
        Path successor = location.resolve(IndexLocation.NEXT + 1);
        assertEquals(Set.of(), names(successor));
        assertTrue(Files.exists(location.resolve("CURRENT")), "the old one is left alone while a thread hangs in it");

        goesOn.countDown();
        ended.get(); // the thread went on, opened its database and closed it
        assertEquals(Set.of(), names(successor), "the thread that hung wrote to the successor");

        // The next mount takes the successor, and deletes what it replaced.
        try (ChunkIndex next = location(IndexLocationTest::real, LONG).open()) {
            assertTrue(Files.exists(successor.resolve("CURRENT")));
            assertFalse(Files.exists(location.resolve("CURRENT")));
            assertEquals(0, next.highestContainer());
        }
        try (ChunkIndex again = location(IndexLocationTest::real, LONG).open()) {
            assertEquals(Set.of(IndexLocation.NEXT + 1), names(location));
            assertEquals(0, again.highestContainer());
        }
    }

    /** The control: without the limit, the opening does not end before its thread goes on. */
    @Test
    void controlWithoutALimitTheOpeningHangs() throws Exception {
        CompletableFuture<ChunkIndex> opened = new CompletableFuture<>();
        AtomicReference<Boolean> before = new AtomicReference<>();
        Thread mount = new Thread(() -> {
            try {
                opened.complete(location(this::openHanging, LONG).open());
            } catch (IOException e) {
                opened.completeExceptionally(e);
            }
        });
        mount.start();
        hangs.await();
        before.set(opened.isDone());
        goesOn.countDown();
        opened.get().close();
        mount.join();
        assertEquals(Boolean.FALSE, before.get());
        assertEquals(
                0,
                names(location).stream()
                        .filter(name -> name.startsWith(IndexLocation.NEXT))
                        .count());
    }

    @Test
    void aDiskThatDoesNotAnswerAtAllLeavesAVolumeWithoutIndex() {
        IndexLocation hanging = location(
                database -> {
                    try {
                        goesOn.await();
                    } catch (InterruptedException e) {
                        throw new IOException(e);
                    }
                    return new HeapChunkIndex();
                },
                SHORT);
        assertThrows(TimeLimit.ExceededException.class, hanging::open);
    }

    @Test
    void aDamagedSuccessorIsMadeAnewInItsPlace() throws IOException {
        try (ChunkIndex another = location(IndexLocationTest::real, LONG).makeAnother()) {
            assertEquals(0, another.highestContainer());
        }
        Path successor = location.resolve(IndexLocation.NEXT + 1);
        Files.delete(successor.resolve("CURRENT"));
        Files.writeString(successor.resolve("CURRENT"), "nonsense");
        try (ChunkIndex opened = location(IndexLocationTest::real, LONG).open()) {
            assertEquals(0, opened.highestContainer());
        }
        assertTrue(Files.exists(successor.resolve("CURRENT")));
    }

    @Test
    void metadataThatHangRefuseTheMountWithAWayOut() throws Exception {
        KeyValueStore late = new HeapKeyValueStore();
        TimeLimit.Call<KeyValueStore> opening = () -> {
            try {
                goesOn.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            return late;
        };
        IOException refused =
                assertThrows(IOException.class, () -> VolumeLocations.openMetadata(folder, opening, SHORT, "pool0"));
        assertTrue(refused.getMessage().contains("sdfs-check pool0 --restore-metadata"), refused.getMessage());
        goesOn.countDown();
        assertSame(late, VolumeLocations.openMetadata(folder, opening, LONG, "pool0"));
    }
}
