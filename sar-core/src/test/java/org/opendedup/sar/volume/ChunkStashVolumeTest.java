package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.IndexParameters;
import org.opendedup.sar.index.IndexSettings;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;

/** A volume with a ChunkStash index. */
class ChunkStashVolumeTest extends OpenVolumeTrial {
    private static final int DATA_BYTES = 12 * MIB;

    private final byte[] data = new byte[DATA_BYTES];

    @Override
    VolumeConfig configured() {
        return VolumeConfigs.in(folder, 1L << 30, Chunking.SHA256).withIndex(IndexClass.CHUNKSTASH);
    }

    @BeforeEach
    void writeFirst() throws IOException {
        new Random(1).nextBytes(data);
        write("first");
    }

    private void write(String name) throws IOException {
        GarbageTrial.store(volume, name, data);
    }

    private long storedBytes() throws IOException {
        return volume.statistics().storedBytes();
    }

    private List<Path> indexFiles() throws IOException {
        try (Stream<Path> files = Files.list(config.locations().hashDb())) {
            return files.filter(Files::isRegularFile).toList();
        }
    }

    private boolean hasIndex() {
        return Files.exists(config.locations().hashDb().resolve("CHUNKSTASH"));
    }

    @Test
    void whatIsWrittenAgainIsNotStoredAgain() throws IOException {
        long stored = storedBytes();
        assertTrue(stored >= DATA_BYTES);
        write("second");
        assertEquals(stored, storedBytes(), DATA_BYTES / 100.0);
        reopen();
        assertTrue(hasIndex());
        write("third");
        assertEquals(stored, storedBytes(), DATA_BYTES / 100.0);
    }

    /** Opens the volume with room for about 1500 chunks in the log, and writes as many as are there again. */
    private void fillTheSsd() throws IOException {
        volume.close();
        config = config.withIndexSettings(new IndexSettings(65_536 * 6 + 70_000, IndexParameters.NONE));
        volume = Volume.open(config);
        new Random(3).nextBytes(data);
        write("others");
    }

    private Path diskIndexes() {
        return config.locations().data().resolve("disk-index");
    }

    private long onDisk() throws IOException {
        return volume.statistics().index().disk().chunks();
    }

    @Test
    void whatTheSsdHasNoRoomForIsFoundOnTheDisk() throws IOException {
        assertEquals(0, onDisk());
        fillTheSsd();
        long stored = storedBytes();
        assertTrue(onDisk() > 2 * DATA_BYTES / 4096 - 1800, onDisk() + " chunks");
        assertTrue(volume.statistics().index().fastBytes() < 70_000);
        for (int seed : new int[] {1, 3}) {
            new Random(seed).nextBytes(data);
            write("again" + seed);
            reopen();
        }
        assertEquals(stored, storedBytes(), DATA_BYTES / 100.0);
        assertTrue(volume.condition().index().use().disk().chunks() > 0);
    }

    @Test
    void aLostDiskIndexIsMadeAnewFromTheContainers() throws IOException {
        fillTheSsd();
        long stored = storedBytes();
        volume.close();
        try (Stream<Path> files = Files.walk(diskIndexes())) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
        volume = Volume.open(config);
        assertTrue(onDisk() > 0);
        for (int seed : new int[] {1, 3}) {
            new Random(seed).nextBytes(data);
            write("again" + seed);
        }
        assertEquals(stored, storedBytes(), DATA_BYTES / 100.0);
    }

    @Test
    void anIndexOfAnotherClassHasNoUseForTheDiskIndex() throws Exception {
        fillTheSsd();
        long stored = storedBytes();
        try (Stream<Path> databases = Files.list(diskIndexes())) {
            assertEquals(1, databases.count());
        }
        volume.close();
        volume = Volume.open(config.withIndex(IndexClass.ROCKSDB));
        try (Stream<Path> databases = Files.list(diskIndexes())) {
            assertEquals(0, databases.count());
        }
        new Random(1).nextBytes(data);
        write("again");
        assertEquals(stored, storedBytes(), DATA_BYTES / 100.0);
    }

    private byte[] identity() throws IOException {
        return Files.readAllBytes(config.locations().hashDb().resolve("CHUNKSTASH"));
    }

    private void wipeTheSsd() throws IOException {
        for (Path file : indexFiles()) {
            Files.delete(file);
        }
    }

    /** What the SSD had is the administrator's to copy; a copy that lags is made up from the containers. */
    @Test
    void aCopyOfTheIndexServesAfterTheSsdWasEmptied() throws IOException {
        byte[] before = identity();
        volume.close();
        Path kept = Files.createDirectories(folder.resolve("kept"));
        for (Path file : indexFiles()) {
            Files.copy(file, kept.resolve(file.getFileName()));
        }
        volume = Volume.open(config);
        new Random(5).nextBytes(data);
        write("later");
        long stored = storedBytes();
        volume.close();
        wipeTheSsd();
        try (Stream<Path> copies = Files.list(kept)) {
            for (Path copy : copies.toList()) {
                Files.copy(copy, config.locations().hashDb().resolve(copy.getFileName()));
            }
        }
        volume = Volume.open(config);
        assertArrayEquals(before, identity(), "the copy is used, no index is made anew");
        write("later again");
        assertEquals(stored, storedBytes(), DATA_BYTES / 100.0);
    }

    /** The control: without a copy an index that was lost is another one. */
    @Test
    void controlWithoutACopyTheIndexIsMadeAnew() throws IOException {
        byte[] before = identity();
        volume.close();
        wipeTheSsd();
        volume = Volume.open(config);
        assertFalse(Arrays.equals(before, identity()));
    }
}
