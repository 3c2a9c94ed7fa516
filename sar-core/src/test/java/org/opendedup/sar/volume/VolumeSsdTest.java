package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.Sha256;
import org.opendedup.sar.hot.SsdState;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.care.FoundChunk;
import org.opendedup.sar.volume.care.VolumeHeal;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.Ballasts;
import org.opendedup.sar.volume.store.VolumeDevices;
import org.opendedup.sar.volume.store.VolumeLocations;
import org.opendedup.sar.volume.store.VolumeStores;

/** A volume with an SSD on real folders. */
class VolumeSsdTest extends OpenVolumeTrial {
    private static final Owner OWNER = new Owner(0, 0);
    /** Short enough for a run of its own to be promoted. */
    private static final int FILE_BYTES = 64 << 10;

    private static final HotSettings SETTINGS =
            new HotSettings(true, 64 << 20, 3, 128 << 10, true, 1000, HotSettings.Policy.REFERENCE_COUNT);

    private final byte[] shared = new byte[FILE_BYTES];
    private Path ssd;
    private int files;

    @Override
    VolumeConfig configured() {
        return VolumeConfigs.in(folder, 1L << 40, Chunking.SHA256).withSsd(folder.resolve("ssd"), SETTINGS);
    }

    @BeforeEach
    void make() throws IOException {
        new Random(1).nextBytes(shared);
        ssd = folder.resolve("ssd");
    }

    private long writeShared() throws IOException {
        long inode = volume.makeNode(Inode.ROOT, ("f" + files++).getBytes(UTF_8), 0100644, 0, OWNER)
                .inode();
        OpenFile file = volume.open(inode, true);
        volume.write(file, 0, ByteBuffer.wrap(shared));
        volume.sync();
        volume.close(file);
        return inode;
    }

    private void checkShared(long inode) throws IOException {
        OpenFile file = volume.open(inode, false);
        byte[] found = new byte[FILE_BYTES];
        assertEquals(FILE_BYTES, volume.read(file, 0, ByteBuffer.wrap(found)));
        assertArrayEquals(shared, found);
        volume.close(file);
    }

    /** By the fingerprint of its bytes: how many files have it, and whether the SSD does. */
    @Test
    void aChunkOfFilesIsFoundByItsFingerprint() throws IOException {
        writeShared();
        writeShared();
        byte[] first = Sha256.newDigest().digest(Arrays.copyOf(shared, 4096));
        FoundChunk found = volume.maintenance()
                .chunks()
                .find(HexFormat.of().formatHex(first))
                .chunks()
                .get(0);
        assertEquals(2, found.chunk().getCount());
        assertFalse(found.isOnSsd());
        promoted();
        TestWait.until(() -> volume.hot().contains(found.chunk().getChunkId()));
        assertTrue(volume.maintenance()
                .chunks()
                .find(found.fingerprint())
                .chunks()
                .get(0)
                .isOnSsd());
    }

    private long promoted() throws IOException {
        long inode = 0;
        for (int i = 0; i < 4; i++) {
            inode = writeShared();
        }
        // Closing writes the queued chunks.
        reopen();
        assertEquals(SsdState.ONLINE, volume.hot().status().state());
        assertEquals(FILE_BYTES / 4096, volume.hot().status().mapTableEntries());
        return inode;
    }

    @Test
    void sharedChunksAreServedFromTheSsdAlsoAfterMountingAgain() throws IOException {
        long inode = promoted();
        long diskReads = volume.statistics().diskReads();
        checkShared(inode);
        assertEquals(FILE_BYTES / 4096, volume.hot().status().distributor().ssdHits());
        assertEquals(diskReads, volume.statistics().diskReads());
    }

    /**
     * Otherwise the SSD would be in use until the process ends, and the next opening of the volume would have no SSD.
     */
    @Test
    void anOpeningThatFailsClosesWhatItHasOpened() throws IOException {
        volume.close();
        VolumeStores stores = VolumeLocations.open(config, Ballasts.none());
        Device unknown = new Device() {
            @Override
            public long usableBytes() throws IOException {
                throw new IOException("Input/output error");
            }

            @Override
            public long totalBytes() throws IOException {
                throw new IOException("Input/output error");
            }
        };
        VolumeStores failing = new VolumeStores(
                stores.containers(),
                stores.metadata(),
                stores.index(),
                stores.clock(),
                stores.hot(),
                new VolumeDevices(unknown, unknown, unknown, Ballasts.none()));
        assertThrows(IOException.class, () -> Volume.open(config, failing, Verification.CHECKSUMS));
        stores.index().close();
        stores.metadata().close();
        volume = Volume.open(config);
        assertEquals(SsdState.ONLINE, volume.hot().status().state());
    }

    @Test
    void aVolumeGoesOnWithoutItsSsdAndTakesItBack() throws IOException {
        long inode = promoted();
        volume.hot().detach();
        checkShared(inode);
        assertEquals(0, volume.hot().status().distributor().ssdHits());
        assertEquals(SsdState.DETACHED, volume.hot().status().state());
        volume.hot().attach(ssd);
        assertEquals(SsdState.ONLINE, volume.hot().status().state());
        assertEquals(FILE_BYTES / 4096, volume.hot().status().mapTableEntries());
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    @Test
    void anSsdThatReturnsStartsAPassOfHealing() throws Exception {
        promoted();
        VolumeHeal heal = volume.maintenance().heal();
        heal.setDelays(TimeUnit.HOURS.toMillis(1), TimeUnit.HOURS.toMillis(1));
        volume.hot().detach();
        volume.context().containers().endAll();
        volume.sync();
        long[] container = new long[1];
        volume.context().containers().forEachContainer(each -> (container[0] = each) == each);
        volume.context().damaged().found(container[0], -1, 0, 1, new IOException("a test says so"));
        assertEquals(1, heal.unhealedChunks(), "control: it waits for an hour");
        heal.setDelays(0, 0);
        volume.hot().attach(ssd);
        TestWait.until(() -> heal.unhealedChunks() == 0);
    }

    @Test
    void whatLostItsLastReferenceWhileTheSsdWasAwayLeavesItWhenItReturns() throws Exception {
        promoted();
        volume.hot().detach();
        removeAll();
        volume.hot().attach(ssd);
        awaitEmptySsd();
    }

    @Test
    void whatLostItsLastReferenceWhileTheSsdWasAwayLeavesItAtTheNextMount() throws Exception {
        promoted();
        volume.hot().detach();
        removeAll();
        reopen();
        awaitEmptySsd();
    }

    /** Returns when nothing refers to the chunks any more; the detached SSD is not informed. */
    private void removeAll() throws IOException, InterruptedException {
        while (files > 0) {
            byte[] name = ("f" + --files).getBytes(UTF_8);
            long inode = volume.lookup(Inode.ROOT, name).inode();
            volume.unlink(Inode.ROOT, name);
            volume.forget(inode, 1);
        }
        TestWait.until(() -> volume.statistics().files() == 1);
        assertEquals(0, volume.hot().status().demotion().unreferenced());
    }

    private void awaitEmptySsd() throws IOException, InterruptedException {
        TestWait.until(() -> volume.hot().status().mapTableEntries() == 0);
        // A chunk is counted when its entry is gone.
        TestWait.until(() -> volume.hot().status().demotion().unreferenced() >= FILE_BYTES / 4096);
        assertEquals(FILE_BYTES / 4096, volume.hot().status().demotion().unreferenced());
    }

    @Test
    void anSsdThatIsNotThereAtMountIsDoneWithout() throws IOException {
        long inode = promoted();
        volume.close();
        Files.move(ssd, folder.resolve("elsewhere"));
        volume = Volume.open(config);
        assertEquals(SsdState.DETACHED, volume.hot().status().state());
        assertFalse(Files.exists(ssd));
        checkShared(inode);
        writeShared();
        volume.hot().attach(folder.resolve("elsewhere"));
        assertEquals(SsdState.ONLINE, volume.hot().status().state());
    }

    /** Like mkfs; only a mount, without a request, makes none. */
    @Test
    void attachingMakesAFolderThatIsMissing() throws IOException {
        Path missing = folder.resolve("another/ssd");
        volume.hot().attach(missing);
        assertEquals(SsdState.ONLINE, volume.hot().status().state());
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(missing)));
        Path file = Files.createFile(folder.resolve("file"));
        IOException refused = assertThrows(IOException.class, () -> volume.hot().attach(file));
        assertTrue(refused.getMessage().contains("not a folder"), refused.getMessage());
        assertEquals(SsdState.ONLINE, volume.hot().status().state());
    }

    @Test
    void anSsdOfAnotherVolumeIsRefusedAndTheOneInUseStays() throws IOException {
        Path otherSsd = folder.resolve("other ssd");
        VolumeConfig other = VolumeConfigs.in(folder.resolve("other"), 1L << 40, Chunking.SHA256)
                .withSsd(otherSsd, SETTINGS);
        Volume.create(other);
        IOException refused = assertThrows(IOException.class, () -> volume.hot().attach(otherSsd));
        assertTrue(refused.getMessage().contains("belongs to volume"), refused.getMessage());
        assertEquals(SsdState.ONLINE, volume.hot().status().state());
        checkShared(writeShared());
    }
}
