package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Owner;

/** A volume on real folders, used like a front end. */
class VolumeTest {
    private static final Owner ALICE = new Owner(1000, 1000);

    @TempDir
    Path folder;

    private VolumeConfig config;
    private Volume volume;

    @BeforeEach
    void makeVolume() throws IOException {
        config = config(Chunking.VARIABLE_SHA256);
        Volume.create(config);
        volume = Volume.open(config);
    }

    private VolumeConfig config(Chunking chunking) {
        return VolumeConfigs.in(folder, 100L << 30, chunking);
    }

    @AfterEach
    void closeVolume() throws IOException {
        volume.close();
    }

    private void reopen() throws IOException {
        volume.close();
        volume = Volume.open(config);
    }

    private static byte[] name(String name) {
        return name.getBytes(UTF_8);
    }

    private static byte[] random(int bytes, long seed) {
        byte[] data = new byte[bytes];
        new Random(seed).nextBytes(data);
        return data;
    }

    private long make(String name) throws IOException {
        return volume.makeNode(Inode.ROOT, name(name), 0100644, 0, ALICE).inode();
    }

    private void write(long inode, long offset, byte[] data) throws IOException {
        OpenFile file = volume.open(inode, true);
        for (int at = 0; at < data.length; at += 1 << 20) {
            volume.write(file, offset + at, ByteBuffer.wrap(data, at, Math.min(1 << 20, data.length - at)));
        }
        volume.sync();
        volume.close(file);
    }

    private byte[] read(long inode) throws IOException {
        OpenFile file = volume.open(inode, false);
        byte[] data = new byte[(int) volume.attributes(inode).size()];
        for (int at = 0; at < data.length; at += 1 << 20) {
            int length = Math.min(1 << 20, data.length - at);
            assertEquals(length, volume.read(file, at, ByteBuffer.wrap(data, at, length)));
        }
        volume.close(file);
        return data;
    }

    private void assertConsistent() throws IOException {
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    @Test
    void aFileReadsBackAsWrittenAlsoAfterReopening() throws IOException {
        byte[] data = random(9 << 20, 1);
        long inode = make("a");
        write(inode, 0, data);
        assertArrayEquals(data, read(inode));
        reopen();
        assertEquals(inode, volume.lookup(Inode.ROOT, name("a")).inode());
        assertArrayEquals(data, read(inode));
        assertConsistent();
    }

    @Test
    void aSecondCopyIsNotStoredAgain() throws IOException {
        byte[] data = random(8 << 20, 2);
        write(make("a"), 0, data);
        long unique = volume.statistics().uniqueBytes();
        write(make("b"), 0, data);
        assertEquals(unique, volume.statistics().uniqueBytes());
        assertEquals(2L * data.length, volume.statistics().logicalBytes());
        assertConsistent();
    }

    @Test
    void bytesInsertedAtTheFrontStoreLittleAnew() throws IOException {
        byte[] data = random(32 << 20, 3);
        write(make("a"), 0, data);
        long unique = volume.statistics().uniqueBytes();
        byte[] shifted = new byte[data.length + 100];
        System.arraycopy(data, 0, shifted, 100, data.length);
        write(make("b"), 0, shifted);
        assertTrue(volume.statistics().uniqueBytes() - unique < data.length / 100);
        assertConsistent();
    }

    @Test
    void overwritesOfAnySizeAndPlaceReadBack() throws IOException {
        for (Chunking chunking : Chunking.values()) {
            volume.close();
            folder = folder.resolve(chunking.name());
            config = config(chunking);
            Volume.create(config);
            volume = Volume.open(config);
            Random random = new Random(4);
            byte[] data = random(3 << 20, 5);
            long inode = make("a");
            write(inode, 0, data);
            for (int i = 0; i < 200; i++) {
                int length = 1 + random.nextInt(i % 10 == 0 ? 300_000 : 9000);
                int offset = random.nextInt(data.length - length);
                byte[] change = i % 7 == 0 ? new byte[length] : random(length, i);
                System.arraycopy(change, 0, data, offset, length);
                write(inode, offset, change);
            }
            assertArrayEquals(data, read(inode));
            assertConsistent();
        }
    }

    @Test
    void aFileCutOffReadsZerosWhereItGrowsAgain() throws IOException {
        byte[] data = random(2 << 20, 6);
        long inode = make("a");
        write(inode, 0, data);
        volume.change(inode, AttributeChange.ofSize(1_000_001));
        volume.change(inode, AttributeChange.ofSize(data.length));
        Arrays.fill(data, 1_000_001, data.length, (byte) 0);
        assertArrayEquals(data, read(inode));
        reopen();
        assertArrayEquals(data, read(inode));
        assertConsistent();
    }

    @Test
    void anUnlinkedOpenFileStaysUntilItIsForgotten() throws IOException {
        byte[] data = random(1 << 20, 7);
        long inode = make("a");
        write(inode, 0, data);
        volume.unlink(Inode.ROOT, name("a"));
        assertThrows(PosixException.class, () -> volume.lookup(Inode.ROOT, name("a")));
        assertArrayEquals(data, read(inode));
        assertEquals(2, volume.statistics().files());
        volume.forget(inode, 1);
        assertEquals(1, volume.statistics().files());
        assertEquals(0, volume.statistics().logicalBytes());
        assertConsistent();
    }

    @Test
    void syncingAFileLeavesNothingOfItInMemoryOnly() throws IOException {
        OpenFile file = volume.open(make("a"), true);
        byte[] data = random(30 << 20, 9);
        volume.write(file, 0, ByteBuffer.wrap(data));
        volume.sync();
        assertEquals(0, volume.statistics().dirtyBytes());
        assertEquals(data.length, volume.context().metadata().totals().logicalBytes());
        volume.close(file);
        assertConsistent();
    }

    @Test
    void aSymbolicLinkCountsNoBytesWhenItIsMadeOrRemoved() throws IOException {
        volume.makeSymbolicLink(Inode.ROOT, name("link"), name("a target of some length"), ALICE);
        assertEquals(0, volume.statistics().logicalBytes());
        reopen();
        volume.unlink(Inode.ROOT, name("link"));
        assertEquals(0, volume.statistics().logicalBytes());
        assertEquals(1, volume.statistics().files());
    }

    @Test
    void bytesNotYetStoredAreRead() throws IOException {
        long inode = make("a");
        OpenFile file = volume.open(inode, true);
        byte[] data = random(10_000, 8);
        volume.write(file, 5000, ByteBuffer.wrap(data));
        ByteBuffer target = ByteBuffer.allocate(20_000);
        assertEquals(15_000, volume.read(file, 0, target));
        byte[] expected = new byte[15_000];
        System.arraycopy(data, 0, expected, 5000, data.length);
        assertArrayEquals(expected, Arrays.copyOf(target.array(), 15_000));
        volume.close(file);
        assertArrayEquals(expected, read(inode));
        assertConsistent();
    }

    @Test
    void holesAndZerosTakeNoBlocks() throws IOException {
        long inode = make("a");
        volume.change(inode, AttributeChange.ofSize(3L << 30));
        assertEquals(0, volume.attributes(inode).blocks());
        write(inode, 1 << 20, new byte[1 << 20]);
        assertEquals(0, volume.attributes(inode).blocks());
        write(inode, 4 << 20, random(1 << 20, 3));
        write(inode, 4 << 20, random(1 << 19, 4));
        assertBlocks(2048, inode);
        reopen();
        assertBlocks(2048, inode);
        OpenFile file = volume.open(inode, true);
        volume.zero(file, 4 << 20, 1 << 18, true);
        assertBlocks(1536, inode);
        volume.write(file, 4 << 20, ByteBuffer.wrap(random(512, 5)));
        assertBlocks(1537, inode);
        volume.close(file);
        volume.change(inode, AttributeChange.ofSize(4 << 20));
        assertEquals(0, volume.attributes(inode).blocks());
        reopen();
        assertEquals(0, volume.attributes(inode).blocks());
        assertConsistent();
    }

    @Test
    void aSyncThatMeetsACutSecuresWhatWasWritten() throws Exception {
        long inode = make("a");
        OpenFile file = volume.open(inode, true);
        Node node = file.node();
        Node.Contents contents =
                node.use(volume.context().dirtyBudget(), volume.context().capacity());
        volume.write(file, 0, ByteBuffer.wrap(random(1000, 6)));
        FutureTask<Void> sync = new FutureTask<>(() -> {
            volume.sync(file);
            return null;
        });
        Thread syncing = new Thread(sync);
        contents.storing.lock();
        try {
            syncing.start();
            while (!contents.storing.hasQueuedThread(syncing)) {
                Thread.onSpinWait();
            }
            // As by a truncation that took the lock first.
            synchronized (node) {
                contents.cutting = true;
            }
        } finally {
            contents.storing.unlock();
        }
        while (!sync.isDone()
                && (contents.storing.hasQueuedThread(syncing) || syncing.getState() != Thread.State.WAITING)) {
            Thread.onSpinWait();
        }
        node.endCutting();
        sync.get();
        synchronized (node) {
            assertTrue(contents.dirty.unlogged().isEmpty());
            assertEquals(1000, contents.loggedEnd());
        }
        node.leave();
        volume.close(file);
    }

    /** The chunks at both ends of data may contain zeros too, at most 64 KiB each. */
    private void assertBlocks(long expected, long inode) throws IOException {
        long blocks = volume.attributes(inode).blocks();
        assertTrue(blocks >= expected && blocks <= expected + 256, () -> blocks + " blocks, not " + expected);
    }
}
