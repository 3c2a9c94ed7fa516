package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfigs;

/**
 * A disk that does not return something, or returns something wrong, while a mount recovers what a crash left: it is
 * there again when the disk is well, whatever happened meanwhile.
 */
@Timeout(120)
class RecoveryReadErrorTest {
    private static final int HEADER_BYTES = 4096;
    private static final int SECTOR = 500_000;

    private final long seed = TestSeed.next();
    private final byte[] contents = new byte[1 << 20];
    private VolumeInMemory stores;

    @AutoClose
    private Volume volume;

    private String pack;

    /** A file that was synced, and a power cut. */
    private void storeAndCrash() throws IOException {
        new Random(seed).nextBytes(contents);
        stores = VolumeInMemory.create(VolumeConfigs.in(Path.of("unused"), 1L << 40, Chunking.VARIABLE_SHA256), seed);
        volume = stores.open();
        GarbageTrial.store(volume, "f", contents);
        crash();
        pack = stores.containers().list().stream()
                .filter(name -> name.endsWith(".pack"))
                .findFirst()
                .orElseThrow();
    }

    private void crash() throws IOException {
        Volume before = volume;
        stores = stores.crash(seed);
        VolumeInMemory.abandon(before);
    }

    private void reopen() throws IOException {
        volume.close();
        volume = stores.open();
    }

    private void failReads(int from, int end) throws IOException {
        stores.containers().failReads(pack, from, end);
    }

    private void read() throws IOException {
        assertArrayEquals(contents, GarbageTrial.read(volume, "f"));
    }

    private void collect() throws IOException {
        GarbageTrial.collect(volume, 0);
    }

    private void assertGivenBack() throws IOException {
        boolean isThere = stores.containers().exists(pack);
        long bytes = isThere ? stores.containers().allocatedBytes(pack) : 0;
        assertTrue(bytes < contents.length / 10, () -> bytes + " bytes of the pack are left");
    }

    private long damagedChunks() throws IOException {
        return volume.maintenance().heal().unhealedChunks();
    }

    private void heal() throws IOException {
        volume.maintenance().heal().run(soFar -> true);
    }

    private void assertWell() throws IOException {
        read();
        assertEquals(0, damagedChunks());
        assertEquals(List.of(), VolumeChecker.check(volume));
        collect();
        reopen();
        read();
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    @Test
    void controlWithoutAnError() throws IOException {
        storeAndCrash();
        volume = stores.open();
        assertWell();
        assertGivenBack();
    }

    @Test
    void aSectorThatIsReadLater() throws IOException {
        storeAndCrash();
        failReads(SECTOR, SECTOR + 1);
        volume = stores.open();
        assertThrows(IOException.class, this::read);
        long lost = damagedChunks();
        assertTrue(lost > 0 && lost < 50, () -> lost + " chunks");
        heal();
        collect();
        crash();
        volume = stores.open();
        assertThrows(IOException.class, this::read);
        collect();
        reopen();
        heal();
        assertWell();
        assertGivenBack();
    }

    @Test
    void aContainerOfWhichNothingIsRead() throws IOException {
        storeAndCrash();
        for (int mount = 0; mount < 2; mount++) {
            failReads(HEADER_BYTES, Integer.MAX_VALUE);
            volume = stores.open();
            assertThrows(IOException.class, this::read);
            assertTrue(damagedChunks() > 50);
            heal();
            collect();
            crash();
        }
        volume = stores.open();
        read();
        heal();
        assertWell();
    }

    /** The old place has the missing chunks in two parts that are never read at the same time. */
    @Test
    void whatIsReadInTurns() throws IOException {
        storeAndCrash();
        failReads(SECTOR, 2 * SECTOR);
        volume = stores.open();
        long lost = damagedChunks();
        failReads(SECTOR * 3 / 2, 2 * SECTOR);
        heal();
        assertTrue(damagedChunks() > 0 && damagedChunks() < lost, () -> "of " + lost + " chunks");
        collect();
        reopen();
        failReads(SECTOR, SECTOR * 5 / 4);
        heal();
        assertWell();
    }

    @Test
    void wrongBytesThatAreRightLater() throws IOException {
        storeAndCrash();
        byte[] right = stores.containers().contents(pack);
        byte[] wrong = right.clone();
        new Random(seed).nextBytes(wrong);
        System.arraycopy(right, 0, wrong, 0, SECTOR);
        stores.containers().put(pack, wrong);
        volume = stores.open();
        assertThrows(IOException.class, this::read);
        heal();
        collect();
        stores.containers().put(pack, right);
        reopen();
        heal();
        assertWell();
    }

    @Test
    void whatNobodyNeedsAnyMoreIsGivenBack() throws IOException {
        for (int from : new int[] {SECTOR, HEADER_BYTES}) {
            storeAndCrash();
            failReads(from, Integer.MAX_VALUE);
            volume = stores.open();
            volume.unlink(Inode.ROOT, "f".getBytes(UTF_8));
            volume.sync();
            collect();
            assertEquals(0, damagedChunks());
            collect();
            reopen();
            collect();
            assertEquals(0, volume.context().containers().containers());
            assertEquals(List.of(), VolumeChecker.check(volume));
            assertGivenBack();
            volume.close();
        }
    }
}
