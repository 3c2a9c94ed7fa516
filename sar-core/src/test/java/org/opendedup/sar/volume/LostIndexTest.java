package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.disk.DiskOption;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.disk.Importance;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.engine.IndexRebuilder;
import org.opendedup.sar.volume.parts.VolumeContext;

/** The fingerprint index of an open volume is deleted: everything is served, and the index is made anew. */
@Timeout(300)
class LostIndexTest {
    private static final String LOOK = "sar.index.look.ms";
    private static final int BYTES = 3 << 20;

    @MemoryFolder
    private Path folder;

    private VolumeConfig config;
    private byte[] content;

    @BeforeEach
    void makeVolume() throws IOException {
        System.setProperty(LOOK, "20");
        config = VolumeConfigs.in(folder, 100L << 30, Chunking.SHA256);
        Volume.create(config);
        content = new byte[BYTES];
        new Random(TestSeed.next()).nextBytes(content);
    }

    @AfterEach
    void lookAsUsual() {
        System.clearProperty(LOOK);
    }

    private interface Loss {
        void of(Path hashDb) throws IOException;
    }

    /** Deletes all files. The volume sees by the last one that the index is lost, and makes another at once. */
    private static void empty(Path hashDb) throws IOException {
        try (Stream<Path> all = Files.walk(hashDb)) {
            for (Path file : all.filter(Files::isRegularFile)
                    .sorted(Comparator.comparing(path -> path.endsWith("CURRENT")))
                    .toList()) {
                Files.deleteIfExists(file);
            }
        }
    }

    private static long chunks(Volume volume) throws IOException {
        return volume.statistics().chunks();
    }

    @Test
    void anIndexThatIsDeletedWhileTheVolumeIsOpenIsMadeAnew() throws Exception {
        List<Loss> losses =
                List.of(LostIndexTest::empty, hashDb -> Files.move(hashDb, folder.resolve("moved")), hashDb -> {
                    Files.move(hashDb, folder.resolve("exchanged"));
                    Files.createDirectories(hashDb);
                });
        int round = 0;
        try (Volume volume = Volume.open(config)) {
            GarbageTrial.store(volume, "first", content);
        }
        try (Volume volume = Volume.open(config)) {
            for (Loss loss : losses) {
                round++;
                loss.of(config.locations().hashDb());
                assertArrayEquals(content, GarbageTrial.read(volume, "first"), "round " + round);
                byte[] own = new byte[BYTES / 4];
                new Random(round).nextBytes(own);
                GarbageTrial.store(volume, "while-lost-" + round, own);
                awaitIndex(volume);
                long before = chunks(volume);
                GarbageTrial.store(volume, "again-" + round, content);
                assertEquals(before, chunks(volume), "round " + round + ": duplicates were stored again");
                assertArrayEquals(own, GarbageTrial.read(volume, "while-lost-" + round));
                assertEquals(List.of(), VolumeChecker.check(volume));
            }
        }
        try (Volume volume = Volume.open(config)) {
            long before = chunks(volume);
            GarbageTrial.store(volume, "after-a-mount", content);
            assertEquals(before, chunks(volume));
            assertEquals(List.of(), VolumeChecker.check(volume));
        }
    }

    /** As after {@code index convert}, or if somebody edited the volume's file. */
    @Test
    void aMountMakesAnIndexOfTheClassThatTheVolumesFileNames() throws Exception {
        try (Volume volume = Volume.open(config)) {
            GarbageTrial.store(volume, "first", content);
        }
        for (IndexClass kind : List.of(IndexClass.CHUNKSTASH, IndexClass.SILO, IndexClass.ROCKSDB)) {
            try (Volume volume = Volume.open(config.withIndex(kind))) {
                Path hashDb = config.locations().hashDb();
                assertEquals(kind == IndexClass.CHUNKSTASH, Files.exists(hashDb.resolve("CHUNKSTASH")));
                assertEquals(kind == IndexClass.SILO, Files.exists(hashDb.resolve("blocks")));
                long before = chunks(volume);
                GarbageTrial.store(volume, "again-" + kind, content);
                assertEquals(before, chunks(volume), kind + ": duplicates were stored again");
                assertEquals(List.of(), VolumeChecker.check(volume));
            }
        }
    }

    /** Waits until there is an index on the disk again that has everything. */
    private void awaitIndex(Volume volume) throws Exception {
        while (!hasDatabase()
                || !volume.condition().index().complete()
                || volume.condition().index().updating()) {
            Thread.sleep(10);
        }
    }

    private boolean hasDatabase() throws IOException {
        Path hashDb = config.locations().hashDb();
        if (!Files.isDirectory(hashDb)) {
            return false;
        }
        try (Stream<Path> all = Files.walk(hashDb)) {
            return all.anyMatch(path -> path.endsWith("CURRENT"));
        } catch (UncheckedIOException e) {
            // The database is being made: it gave a file another name meanwhile.
            return false;
        }
    }

    @Test
    void anIndexThatAFullDiskKeptBackIsFilledWhenThereIsRoom() throws Exception {
        AtomicBoolean hasRoom = new AtomicBoolean();
        try (Volume volume = Volume.open(config)) {
            GarbageTrial.store(volume, "first", content);
            VolumeContext context = volume.context();
            try (IndexRebuilder rebuilder = new IndexRebuilder(
                    context.containers(),
                    context.index(),
                    context.metadata(),
                    context.disk(),
                    hasRoom::get,
                    () -> {},
                    "kept back")) {
                rebuilder.start(Long.MAX_VALUE);
                assertFalse(rebuilder.condition().complete(), "control: there is no room");
                hasRoom.set(true);
                while (!rebuilder.condition().complete()) {
                    Thread.sleep(5);
                }
            }
        }
    }

    @Test
    void whoReadsComesBeforeTheIndex() throws Exception {
        try (Volume volume = Volume.open(config)) {
            GarbageTrial.store(volume, "first", content);
        }
        try (Volume volume = Volume.open(config)) {
            VolumeContext context = volume.context();
            DiskQueue disk = DiskQueue.of(DiskOption.parse("hdd"), folder);
            HeapChunkIndex empty = new HeapChunkIndex();
            try (IndexRebuilder rebuilder = new IndexRebuilder(
                    context.containers(), empty, context.metadata(), disk, () -> true, () -> {}, "beside a reader")) {
                try (DiskQueue.Turn reader = disk.enter(Importance.STEP)) {
                    reader.expects();
                    rebuilder.start(0);
                    TestWait.until(() -> disk.status().background() == 1);
                    assertEquals(0, empty.estimatedChunks());
                }
                TestWait.until(() -> rebuilder.condition().complete());
                assertEquals(chunks(volume), empty.estimatedChunks());
            }
        }
    }

    @Test
    void controlWithoutLookingNoIndexIsMade() throws Exception {
        System.setProperty(LOOK, "1000000000");
        try (Volume volume = Volume.open(config)) {
            GarbageTrial.store(volume, "first", content);
            empty(config.locations().hashDb());
            assertArrayEquals(content, GarbageTrial.read(volume, "first"));
            GarbageTrial.store(volume, "second", Arrays.copyOf(content, BYTES / 2));
            assertFalse(hasDatabase());
        }
    }
}
