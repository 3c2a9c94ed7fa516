package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.engine.IndexRebuilder;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.store.RenewableIndex;

/** The fingerprint index of an open volume is exchanged for another one while the volume is used. */
@Timeout(300)
class IndexExchangeTest {
    private static final int BYTES = 3 << 20;

    @TempDir
    private Path folder;

    private final Random random = new Random(TestSeed.next());
    private VolumeConfig config;
    private final byte[] content = bytes(BYTES);

    @BeforeEach
    void makeVolume() throws IOException {
        config = VolumeConfigs.in(folder, 100L << 30, Chunking.SHA256);
        Volume.create(config);
        try (Volume volume = Volume.open(config)) {
            GarbageTrial.store(volume, "first", content);
        }
    }

    private byte[] bytes(int count) {
        byte[] made = new byte[count];
        random.nextBytes(made);
        return made;
    }

    /** Stores known content again; returns how many chunks that made. */
    private long storedAgain(Volume volume, String name) throws IOException {
        long before = volume.statistics().chunks();
        GarbageTrial.store(volume, name, content);
        return volume.statistics().chunks() - before;
    }

    /** An index of each class in turn; the last one is of the first class again. */
    @Test
    void theNewIndexHasEverything() throws Exception {
        List<IndexClass> kinds = List.of(IndexClass.CHUNKSTASH, IndexClass.SILO, IndexClass.ROCKSDB);
        for (int i = 0; i < kinds.size(); i++) {
            try (Volume volume = Volume.open(config)) {
                volume.maintenance().exchangeIndex(kinds.get(i)).get();
                assertEquals(0, storedAgain(volume, "again" + i));
                assertTrue(volume.condition().index().complete());
                assertEquals(Set.of(databases().last()), databases(), "the old one is still there");
            }
            config = config.withIndex(kinds.get(i));
            try (Volume volume = Volume.open(config)) {
                assertEquals(0, storedAgain(volume, "after mount " + i));
                assertEquals(List.of(), VolumeChecker.check(volume));
            }
        }
    }

    /** Returns the folders, relative to the location, that have an index. */
    private TreeSet<String> databases() throws IOException {
        Path location = config.locations().hashDb();
        try (Stream<Path> all = Files.walk(location)) {
            return all.filter(path -> path.endsWith("CURRENT") || path.endsWith("CHUNKSTASH"))
                    .map(path -> location.relativize(path).toString())
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    /** A crash came between the exchange and the change of the volume's file. */
    @Test
    void anIndexOfAnotherClassThanTheVolumesFileSaysIsRebuilt() throws Exception {
        try (Volume volume = Volume.open(config)) {
            volume.maintenance().exchangeIndex(IndexClass.CHUNKSTASH).get();
        }
        try (Volume volume = Volume.open(config)) {
            assertEquals(0, storedAgain(volume, "again"));
            assertEquals(Set.of("index-1/CURRENT"), databases());
        }
    }

    @Test
    void filesAreWrittenMeanwhile() throws Exception {
        try (Volume volume = Volume.open(config)) {
            CompletableFuture<Void> exchanged = volume.maintenance().exchangeIndex(IndexClass.CHUNKSTASH);
            int files = 0;
            while (!exchanged.isDone() || files < 3) {
                GarbageTrial.store(volume, "file" + files++, bytes(100_000));
            }
            exchanged.get();
            assertEquals(0, storedAgain(volume, "again"));
        }
        config = config.withIndex(IndexClass.CHUNKSTASH);
        try (Volume volume = Volume.open(config)) {
            assertEquals(0, storedAgain(volume, "after a mount"));
            assertEquals(List.of(), VolumeChecker.check(volume));
        }
    }

    @Test
    void anIndexThatCannotBeMadeLeavesTheOldOne() throws Exception {
        // A file where the folder of the new one would be.
        Files.createFile(config.locations().hashDb().resolve("index-1"));
        try (Volume volume = Volume.open(config)) {
            ExecutionException failure = assertThrows(
                    ExecutionException.class,
                    () -> volume.maintenance()
                            .exchangeIndex(IndexClass.CHUNKSTASH)
                            .get());
            assertInstanceOf(IOException.class, failure.getCause());
            assertEquals(0, storedAgain(volume, "again"));
            assertTrue(volume.condition().index().complete());
            assertEquals(Set.of("CURRENT"), databases());
        }
    }

    /** Of a volume that is being opened or closed. */
    @Test
    void anOrderThatNobodyCarriesOutFailsAtOnce() throws Exception {
        Volume volume = Volume.open(config);
        VolumeContext context = volume.context();
        try (volume;
                IndexRebuilder idle = new IndexRebuilder(
                        context.containers(), context.index(), context.metadata(), () -> true, () -> {}, "idle")) {
            assertTrue(idle.exchange(IndexClass.CHUNKSTASH).isCompletedExceptionally());
            volume.maintenance().exchangeIndex(IndexClass.CHUNKSTASH).get(); // The control: this one works.
        }
        assertTrue(volume.maintenance().exchangeIndex(IndexClass.ROCKSDB).isCompletedExceptionally());
    }

    /** Otherwise these tests would not notice that nothing is filled. */
    @Test
    void controlAnIndexThatIsNotFilledIsNoticed() throws Exception {
        try (Volume volume = Volume.open(config)) {
            RenewableIndex index = (RenewableIndex) volume.context().index();
            ChunkIndex empty = index.beginExchange(IndexClass.CHUNKSTASH, new Epoch(new UUID(1, 1), 1, 1), () -> 1);
            assertEquals(0, empty.highestContainer());
            index.endExchange();
            assertTrue(storedAgain(volume, "again") > 0);
        }
    }
}
