package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;

/** A volume on real folders, used like a front end. */
class VolumeTest extends OpenVolumeTrial {
    private static final Owner ALICE = new Owner(1000, 1000);

    private static byte[] name(String name) {
        return name.getBytes(UTF_8);
    }

    private static byte[] random(int bytes, long seed) {
        byte[] data = new byte[bytes];
        new Random(seed).nextBytes(data);
        return data;
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

    /** A client of NFS may have a handle of a file of the volume that was in the same place before. */
    @Test
    void aHandleOfAnotherVolumeIsOfNoFile() throws IOException {
        long inode = make("a");
        long generation = volume.attributes(inode).generation();
        VolumeConfig another = VolumeConfigs.in(folder.resolve("other"), 4L << 30, Chunking.VARIABLE_SHA256);
        Volume.create(another);
        try (Volume other = Volume.open(another)) {
            Attributes made = other.makeNode(Inode.ROOT, name("b"), 0100644, 0, ALICE);
            assertEquals(inode, made.inode(), "the control: the number is the same");
            assertNotEquals(generation, made.generation());
        }
    }

    /** The whole volume may have been put back from a backup meanwhile: then the numbers after it are used again. */
    @Test
    void eachOpeningGivesItsInodesAnotherGeneration() throws IOException {
        long inode = make("a");
        long generation = volume.attributes(inode).generation();
        reopen();
        assertEquals(generation, volume.attributes(inode).generation(), "the same file");
        assertNotEquals(generation, volume.attributes(make("b")).generation());
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
