package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.IndexPlacement;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;

/** A volume with a ChunkStash index. */
class ChunkStashVolumeTest {
    private static final int MIB = 1 << 20;
    private static final int DATA_BYTES = 12 * MIB;

    @TempDir
    Path folder;

    private VolumeConfig config;
    private Volume volume;
    private final byte[] data = new byte[DATA_BYTES];

    @BeforeEach
    void makeVolume() throws IOException {
        config = VolumeConfigs.in(folder, 1L << 30, Chunking.SHA256).withIndex(IndexClass.CHUNKSTASH);
        Volume.create(config);
        volume = Volume.open(config);
        new Random(1).nextBytes(data);
        write("first");
    }

    @AfterEach
    void closeVolume() throws IOException {
        volume.close();
    }

    private void write(String name) throws IOException {
        long inode = volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, new Owner(0, 0))
                .inode();
        OpenFile file = volume.open(inode, true);
        volume.write(file, 0, ByteBuffer.wrap(data));
        volume.sync(file);
        volume.close(file);
    }

    private long storedBytes() throws IOException {
        return volume.statistics().storedBytes();
    }

    private void reopen() throws IOException {
        volume.close();
        volume = Volume.open(config);
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
        config = config.withIndexPlacement(new IndexPlacement(65_536 * 6 + 70_000));
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

    @Test
    void aLostIndexIsMadeAnewFromTheContainers() throws IOException {
        long stored = storedBytes();
        volume.close();
        for (Path file : indexFiles()) {
            Files.delete(file);
        }
        volume = Volume.open(config);
        assertTrue(hasIndex());
        write("second");
        assertEquals(stored, storedBytes(), DATA_BYTES / 100.0);
    }

    @Test
    void aDamagedIndexIsMadeAnewFromTheContainers() throws IOException {
        long stored = storedBytes();
        volume.close();
        for (Path file : indexFiles()) {
            if (file.getFileName().toString().equals("checkpoint")) {
                byte[] bytes = Files.readAllBytes(file);
                bytes[bytes.length / 2] ^= 1;
                Files.write(file, bytes);
            }
        }
        volume = Volume.open(config);
        write("second");
        assertEquals(stored, storedBytes(), DATA_BYTES / 100.0);
    }

    /** An index of an earlier time names containers, and lacks others: the epochs tell. */
    @Test
    void anOlderIndexIsBroughtUpToDate() throws IOException {
        volume.close();
        Path kept = Files.createDirectory(folder.resolve("kept"));
        for (Path file : indexFiles()) {
            Files.copy(file, kept.resolve(file.getFileName()));
        }
        volume = Volume.open(config);
        new Random(2).nextBytes(data);
        write("later");
        long stored = storedBytes();
        volume.close();
        for (Path file : indexFiles()) {
            Files.delete(file);
        }
        try (Stream<Path> files = Files.list(kept)) {
            for (Path file : files.toList()) {
                Files.copy(file, config.locations().hashDb().resolve(file.getFileName()));
            }
        }
        volume = Volume.open(config);
        write("again");
        assertEquals(stored, storedBytes(), DATA_BYTES / 100.0);
    }
}
