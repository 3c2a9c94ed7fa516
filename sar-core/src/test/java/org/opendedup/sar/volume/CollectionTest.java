package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.restore.fragmentation.FileFragmentation;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;

/** What a collection gives back, and what it leaves as it was. On the file system of the temporary folder. */
class CollectionTest {
    private static final int MIB = 1 << 20;
    /** What stays of an empty volume: the header of the pack with the highest number, and reserved space. */
    private static final long EMPTY_BYTES = 256 << 10;

    @MemoryFolder
    Path folder;

    private final SplittableRandom random = new SplittableRandom(TestSeed.next());
    private final Map<String, byte[]> contents = new HashMap<>();
    private VolumeConfig config;
    private Volume volume;

    private void make(Chunking chunking) throws IOException {
        config = VolumeConfigs.in(folder, 4L << 30, chunking);
        Volume.create(config);
        volume = Volume.open(config);
    }

    @AfterEach
    void close() throws IOException {
        volume.sync();
        assertEquals(List.of(), VolumeChecker.check(volume));
        volume.close();
    }

    private byte[] data(int bytes) {
        byte[] data = new byte[bytes];
        random.nextBytes(data);
        return data;
    }

    private void store(String name, byte[] data) throws IOException {
        long inode = volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, new Owner(1, 1))
                .inode();
        OpenFile file = volume.open(inode, true);
        for (int at = 0; at < data.length; at += MIB) {
            volume.write(file, at, ByteBuffer.wrap(data, at, Math.min(MIB, data.length - at)));
        }
        volume.sync(file);
        volume.close(file);
        volume.forget(inode, 1);
        contents.put(name, data);
    }

    private void remove(String name) throws IOException {
        volume.unlink(Inode.ROOT, name.getBytes(UTF_8));
        volume.sync();
        contents.remove(name);
    }

    private void assertContents() throws IOException {
        for (Map.Entry<String, byte[]> expected : contents.entrySet()) {
            long inode =
                    volume.lookup(Inode.ROOT, expected.getKey().getBytes(UTF_8)).inode();
            OpenFile file = volume.open(inode, false);
            ByteBuffer found = ByteBuffer.allocate(expected.getValue().length);
            while (found.hasRemaining() && volume.read(file, found.position(), found) > 0) {}
            volume.close(file);
            volume.forget(inode, 1);
            assertArrayEquals(expected.getValue(), found.array(), expected.getKey());
        }
    }

    private CollectionReport collect(double garbageShare) throws IOException {
        return volume.collector().collect(new CollectionLimits(garbageShare, false), (done, of, returned) -> true);
    }

    /** Bytes that the packs take on the disk. */
    private long allocated() throws IOException {
        FileDirectory data = FileDirectory.open(config.locations().data());
        long bytes = 0;
        for (String name : data.list()) {
            bytes += name.endsWith(".pack") ? data.allocatedBytes(name) : 0;
        }
        return bytes;
    }

    private void reopen() throws IOException {
        volume.close();
        volume = Volume.open(config);
    }

    @ParameterizedTest
    @EnumSource
    void whatIsNotDeletedStays(Chunking chunking) throws IOException {
        make(chunking);
        store("kept", data(12 * MIB));
        // Every second run of blocks is also in another file.
        byte[] dead = data(24 * MIB);
        byte[] part = new byte[8 * MIB];
        for (int run = 0; run < 8; run++) {
            System.arraycopy(dead, run * 3 * MIB, part, run * MIB, MIB);
        }
        store("dead", dead);
        store("part", part);
        reopen();
        remove("dead");
        long before = allocated();
        CollectionReport report = collect(0);
        assertTrue(report.rewritten() > 0, report::toString);
        assertEquals(0, report.keptContainers());
        assertTrue(before - allocated() > 15 * MIB, () -> report + ", before " + before);
        assertContents();
        assertEquals(List.of(), VolumeChecker.check(volume));
        reopen();
        assertContents();
        // Nothing is left to do.
        CollectionReport again = collect(0);
        assertTrue(again.rewritten() <= 1 && again.removed() == 0, again::toString);
        assertTrue(again.leftBytes() < MIB / 8, again::toString);
        // What is gone is stored again, not taken for a duplicate.
        store("again", dead);
        assertContents();
        reopen();
        assertContents();
    }

    @Test
    void aDryRunChangesNothing() throws IOException {
        make(Chunking.SHA256);
        store("dead", data(10 * MIB));
        reopen();
        remove("dead");
        long before = allocated();
        CollectionReport report =
                volume.collector().collect(new CollectionLimits(0, true), (done, of, returned) -> true);
        assertTrue(report.garbageBytes() > 9 * MIB && report.victims() > 0 && report.removed() == 0, report::toString);
        assertEquals(before, allocated());
        assertTrue(volume.statistics().garbageBytes() >= 10 * MIB);
    }

    @Test
    void aStoppedCollectionGoesOnLater() throws IOException {
        make(Chunking.SHA256);
        store("dead", data(40 * MIB));
        byte[] kept = data(MIB);
        store("kept", kept);
        reopen();
        remove("dead");
        long before = allocated();
        assertThrows(
                InterruptedIOException.class,
                () -> volume.collector()
                        .collect(new CollectionLimits(0, false), (done, of, returned) -> done < 12 * MIB));
        assertContents();
        reopen();
        CollectionReport report = collect(0);
        assertTrue(report.removed() > 0, report::toString);
        assertTrue(allocated() < 3 * MIB + EMPTY_BYTES, () -> report + ", before " + before);
        assertContents();
    }

    /** An analysis looks at containers that must not be removed meanwhile, and a pause may last for hours. */
    @Test
    @Timeout(60)
    void aPausedCollectionLetsAnAnalysisPass() throws Exception {
        make(Chunking.SHA256);
        store("dead", data(40 * MIB));
        store("kept", data(5 * MIB));
        reopen();
        long inode = volume.lookup(Inode.ROOT, "kept".getBytes(UTF_8)).inode();
        remove("dead");
        CountDownLatch begun = new CountDownLatch(1);
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<CollectionReport> collection = thread.submit(() -> volume.collector()
                    .collect(new CollectionLimits(0, false), (done, of, returned) -> {
                        if (done > 8 * MIB && begun.getCount() > 0) {
                            volume.collector().pace().setPaused(true);
                            begun.countDown();
                        }
                        return true;
                    }));
            begun.await();
            FileFragmentation analyzed = volume.maintenance().fragmentation(inode, DiskModel.HDD);
            assertEquals(5 * MIB, analyzed.bytes());
            assertFalse(collection.isDone());
            volume.collector().pace().setPaused(false);
            CollectionReport report = collection.get();
            assertEquals(0, report.leftBytes(), report::toString);
            assertTrue(report.removed() >= 9, report::toString);
        } finally {
            volume.collector().pace().setPaused(false);
            thread.shutdownNow();
        }
        volume.forget(inode, 1);
        assertContents();
    }
}
