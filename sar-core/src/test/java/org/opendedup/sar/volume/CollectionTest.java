package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.restore.fragmentation.FileFragmentation;
import org.opendedup.sar.restore.frame.StopCheck;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.engine.SpaceCollector;

/** What a collection gives back, and what it leaves as it was. On the file system of the temporary folder. */
class CollectionTest extends OpenVolumeTrial {
    /** What stays of an empty volume: the header of the pack with the highest number, and reserved space. */
    private static final long EMPTY_BYTES = 256 << 10;

    @Override
    VolumeConfig configured() {
        return VolumeConfigs.in(folder, 4L << 30, Chunking.SHA256);
    }

    @AfterEach
    void check() throws IOException {
        volume.sync();
        assertConsistent();
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

    @Test
    void whatIsNotDeletedStays() throws IOException {
        store("kept", 12 * MIB);
        // Every second run of blocks is also in another file.
        byte[] dead = random(24 * MIB);
        byte[] part = new byte[8 * MIB];
        for (int run = 0; run < 8; run++) {
            System.arraycopy(dead, run * 3 * MIB, part, run * MIB, MIB);
        }
        write("dead", dead);
        write("part", part);
        reopen();
        remove("dead");
        long before = allocated();
        CollectionReport report = collect(0);
        assertTrue(report.rewritten() > 0, report::toString);
        assertEquals(0, report.keptContainers());
        assertTrue(before - allocated() > 15 * MIB, () -> report + ", before " + before);
        assertContents();
        assertConsistent();
        reopen();
        assertContents();
        // Nothing is left to do.
        CollectionReport again = collect(0);
        assertTrue(again.rewritten() <= 1 && again.removed() == 0, again::toString);
        assertTrue(again.leftBytes() < MIB / 8, again::toString);
        // What is gone is stored again, not taken for a duplicate.
        write("again", dead);
        assertContents();
        reopen();
        assertContents();
    }

    /** Healing and exact passes exclude collections: one that is asked for waits, and is not refused. */
    @Test
    void whatExcludesCollectionsIsNone() throws IOException {
        SpaceCollector collector = volume.collector();
        boolean isRunning = collector.withoutCollections(StopCheck.NEVER, isWanted -> collector.isRunning());
        assertFalse(isRunning);
        boolean[] seen = {false};
        collector.collect(new CollectionLimits(0, false), (done, of, returned) -> {
            seen[0] |= collector.isRunning();
            return true;
        });
        assertTrue(seen[0], "the control");
        assertFalse(collector.isRunning());
    }

    @Test
    void aDryRunChangesNothing() throws IOException {
        store("dead", 10 * MIB);
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
        store("dead", 40 * MIB);
        byte[] kept = random(MIB);
        write("kept", kept);
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
        store("dead", 40 * MIB);
        store("kept", 5 * MIB);
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
