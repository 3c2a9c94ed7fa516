package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.SsdShare;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;

/** A volume whose index and whose copies of SAR share one SSD: both together have no more than its capacity. */
class SharedSsdTest {
    private static final int MIB = 1 << 20;
    private static final int FILE_BYTES = 4 * MIB;
    private static final long CAPACITY = 16 * MIB;

    /** More than the copies have if the index has its share, and less than they have otherwise. */
    private static final long SHARED_COPIES_BYTES = 8 * MIB;

    @MemoryFolder
    Path folder;

    private VolumeConfig config;

    @AutoClose
    private Volume volume;

    private int files;

    private void make(IndexClass index) throws IOException {
        config = VolumeConfigs.in(folder, 1L << 30, Chunking.SHA256)
                .withIndex(index)
                .withSsd(folder.resolve("ssd"), settings(CAPACITY));
        Volume.create(config);
        volume = Volume.open(config);
    }

    private static HotSettings settings(long capacity) {
        return new HotSettings(true, capacity, 2, 1 << 30, false, 1000, HotSettings.Policy.REFERENCE_COUNT);
    }

    private void write(byte[] data) throws IOException {
        GarbageTrial.store(volume, "file" + files++, data);
    }

    /** Writes content of which all is there twice, so that its copies are wanted on the SSD. */
    private void writeTwice(int seed) throws Exception {
        byte[] data = new byte[FILE_BYTES];
        new Random(seed).nextBytes(data);
        write(data);
        write(data);
        TestWait.until(() -> volume.hot().status().log().queuedBytes() == 0);
    }

    private static long bytesIn(Path place) throws IOException {
        long bytes = 0;
        try (Stream<Path> found = Files.walk(place)) {
            for (Path file : found.filter(Files::isRegularFile).toList()) {
                try {
                    bytes += Files.size(file);
                } catch (NoSuchFileException e) {
                    // It was deleted meanwhile.
                }
            }
        } catch (UncheckedIOException e) {
            // The same, before it was found to be a file.
            return bytesIn(place);
        }
        return bytes;
    }

    private long bytesOnSsd() throws IOException {
        return bytesIn(folder.resolve("ssd")) + bytesIn(config.locations().hashDb());
    }

    private SsdShare share() throws IOException {
        return volume.statistics().index().share();
    }

    /** Returns the most bytes that the copies had. */
    private long fill() throws Exception {
        long most = 0;
        for (int seed = 1; seed <= 8; seed++) {
            writeTwice(seed);
            assertTrue(bytesOnSsd() <= CAPACITY, bytesOnSsd() + " bytes on the SSD");
            most = Math.max(most, volume.hot().status().usedBytes());
        }
        return most;
    }

    @Test
    void bothTogetherStayWithinTheCapacity() throws Exception {
        make(IndexClass.CHUNKSTASH);
        assertEquals(CAPACITY, share().capacityBytes());
        long copies = fill();
        SsdShare full = share();
        assertTrue(full.mostOtherBytes() < CAPACITY - 4 * MIB, full.toString());
        assertTrue(copies <= full.mostOtherBytes() && copies > 2 * MIB, copies + " of " + full);
        assertTrue(copies <= SHARED_COPIES_BYTES, copies + " bytes of copies");
        assertTrue(full.indexBytes() >= bytesIn(config.locations().hashDb()), full.toString());
        // Smaller while in use: the copies give way.
        volume.hot().change(settings(7 * MIB));
        assertEquals(7 * MIB, share().capacityBytes());
        TestWait.until(() -> bytesOnSsd() <= 7 * MIB);
        volume.close();
        volume = Volume.open(config);
        assertEquals(full.indexBytes(), share().indexBytes(), MIB);
        assertTrue(share().mostOtherBytes() < CAPACITY - 4 * MIB, share().toString());
        assertTrue(bytesOnSsd() <= CAPACITY);
    }

    /** The control: with an index that has no share the copies take more than the test above lets them have. */
    @Test
    void controlAnIndexThatIsNotCountedLeavesTheCopiesMore() throws Exception {
        make(IndexClass.ROCKSDB);
        assertEquals(SsdShare.NONE, share());
        long copies = 0;
        for (int seed = 1; seed <= 8; seed++) {
            writeTwice(seed);
            copies = Math.max(copies, volume.hot().status().usedBytes());
        }
        assertTrue(copies > SHARED_COPIES_BYTES, copies + " bytes of copies");
    }
}
