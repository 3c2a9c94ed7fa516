package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.ByteGauge;
import org.opendedup.sar.disk.DiskOption;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.restore.RestoreSettings;
import org.opendedup.sar.restore.cache.CacheChoice;
import org.opendedup.sar.restore.cache.CachePolicy;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;

/**
 * Readers in sequence stay within the memory of restores, whatever policy decides what it keeps, and however many
 * readers there are.
 */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ReadAheadMemoryTest {
    private static final int MIB = 1 << 20;
    private static final int READERS = 4;
    private static final int FILE_BYTES = 24 * MIB;
    /** A quarter of it is for the cache: two whole containers. */
    private static final int ONE_READER_BYTES = 33 * MIB;

    private static final int REQUEST = 256 << 10;
    /** The permitted excess over the budget: a fifth. */
    private static final double TOLERANCE = 1.2;

    private final List<byte[]> contents = new ArrayList<>();
    private VolumeConfig config;
    private Volume volume;

    @BeforeAll
    void makeFragmentedFiles(@MemoryFolder Path folder) throws IOException {
        config = VolumeConfigs.in(folder, 1L << 30, Chunking.VARIABLE_SHA256);
        Volume.create(config);
        try (Volume made = Volume.open(config)) {
            FragmentedFiles files = new FragmentedFiles(made, new Random(TestSeed.next()), 48 * MIB);
            for (int i = 0; i < READERS; i++) {
                contents.add(files.write("file" + i, FILE_BYTES, 256 << 10));
            }
        }
    }

    @AfterEach
    void close() throws IOException {
        volume.close();
    }

    private ByteGauge open(CachePolicy policy, int budget) throws IOException {
        volume = Volume.open(config.withRestore(new RestoreSettings(
                CacheChoice.of(policy), OptionalLong.of(budget), OptionalLong.empty(), 0.25, DiskOption.AUTO)));
        return volume.context().restore().memory();
    }

    private void read(int file, int to) throws IOException {
        long inode = volume.lookup(Inode.ROOT, ("file" + file).getBytes(UTF_8)).inode();
        OpenFile open = volume.open(inode, false);
        ByteBuffer target = ByteBuffer.allocate(REQUEST);
        for (int at = 0; at < to; at += REQUEST) {
            target.clear();
            volume.read(open, at, target);
            assertEquals(ByteBuffer.wrap(contents.get(file), at, REQUEST), target.flip());
        }
        volume.close(open);
    }

    private static void assertWithin(int budget, ByteGauge memory) throws InterruptedException {
        assertTrue(memory.mostBytes() <= TOLERANCE * budget, memory.mostBytes() + " bytes of " + budget);
        assertTrue(memory.mostBytes() > budget / 4, () -> "hardly used: " + memory.mostBytes());
        while (memory.bytes() > 0) {
            Thread.sleep(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void oneReaderKeepsWithinIt(CachePolicy policy) throws Exception {
        int budget = ONE_READER_BYTES;
        ByteGauge memory = open(policy, budget);
        read(0, FILE_BYTES);
        assertWithin(budget, memory);
    }

    @ParameterizedTest
    @EnumSource
    void fourReadersKeepWithinItTogether(CachePolicy policy) throws Exception {
        int budget = READERS * 8 * MIB;
        ByteGauge memory = open(policy, budget);
        List<FutureTask<Void>> readers = new ArrayList<>();
        for (int i = 0; i < READERS; i++) {
            int file = i;
            readers.add(new FutureTask<>(() -> {
                read(file, FILE_BYTES);
                return null;
            }));
            new Thread(readers.get(i)).start();
        }
        for (FutureTask<Void> reader : readers) {
            reader.get();
        }
        assertWithin(budget, memory);
    }

    /**
     * A reader that has the whole memory and stops reading: readers that join must not get the same memory a second
     * time.
     */
    @ParameterizedTest
    @EnumSource
    void readersThatJoinOneWhichRestsKeepWithinIt(CachePolicy policy) throws Exception {
        int budget = READERS * 8 * MIB;
        ByteGauge memory = open(policy, budget);
        long inode = volume.lookup(Inode.ROOT, "file0".getBytes(UTF_8)).inode();
        OpenFile resting = volume.open(inode, false);
        for (int at = 0; at < FILE_BYTES / 2; at += REQUEST) {
            volume.read(resting, at, ByteBuffer.allocate(REQUEST));
        }
        for (int i = 1; i < READERS; i++) {
            read(i, FILE_BYTES);
        }
        // The control: it has not released its memory meanwhile.
        assertTrue(volume.readers().stream().anyMatch(reader -> reader.inode() == inode && reader.heldBytes() > 0));
        volume.close(resting);
        assertWithin(budget, memory);
    }
}
