package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.HookedKeyValueStore;
import org.opendedup.sar.metadata.PresentRecords;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.metadata.record.SystemRecords;
import org.opendedup.sar.volume.config.HeldUntil;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.VolumeStores;

/** A snapshot is deleted, and what only it had is collected, at the worst moments. */
@Timeout(120)
class SnapshotDeletionTest {
    private static final Owner OWNER = new Owner(1, 1);
    private static final int BYTES = 600_000;

    /** Acts at a call of the database. */
    private static final class Watched extends HookedKeyValueStore<CrashKeyValueStore> {
        private byte[] scanned = {};
        private int passes;
        private Runnable atScan = () -> {};
        private Runnable atCommit = () -> {};
        private int scans;
        private int commitsToRefuse;

        Watched(CrashKeyValueStore store) {
            super(store);
        }

        /** Runs an action before a scan that begins with a number, once, after some that pass. */
        void beforeScan(Family family, long number, int mayPass, Runnable action) {
            scanned = Keys.join(new byte[] {(byte) family.ordinal()}, Keys.of(number));
            passes = mayPass;
            atScan = action;
        }

        /** Has the next commits fail, as of a disk that refuses writes. */
        void failNextCommits(int count) {
            store.failNextCommits(count);
        }

        @Override
        public Cursor scan(Family family, byte[] from, byte[] to) throws IOException {
            scans++;
            byte[] place = Keys.join(new byte[] {(byte) family.ordinal()}, from);
            if (place.length >= scanned.length
                    && scanned.length > 0
                    && ByteBuffer.wrap(place, 0, scanned.length).equals(ByteBuffer.wrap(scanned))
                    && passes-- == 0) {
                scanned = new byte[0];
                atScan.run();
            }
            return store.scan(family, from, to);
        }

        @Override
        protected void commit(Batch batch) throws IOException {
            if (commitsToRefuse > 0) {
                commitsToRefuse--;
                throw new NoSpaceException("the test refuses this commit");
            }
            Runnable action = atCommit;
            atCommit = () -> {};
            action.run();
            batch.commit();
        }

        @Override
        public long logBytes() throws IOException {
            return store.logBytes();
        }

        @Override
        public long changes() throws IOException {
            return store.changes();
        }
    }

    @MemoryFolder
    Path folder;

    private final long seed = TestSeed.next();
    private final SplittableRandom random = new SplittableRandom(seed);
    private final Watched metadata = new Watched(new CrashKeyValueStore());
    private final CrashDirectory data = new CrashDirectory(seed);
    private VolumeConfig config;
    private Volume volume;

    @BeforeEach
    void create() throws IOException {
        config = VolumeConfigs.in(folder, 4L << 30, Chunking.VARIABLE_SHA256);
        Volume.create(config, data, metadata, InstantSource.system());
        open();
    }

    private void open() throws IOException {
        volume = Volume.open(
                config,
                new VolumeStores(data, metadata, new HeapChunkIndex(), InstantSource.system()),
                Verification.CHECKSUMS);
    }

    @AfterEach
    void close() throws IOException {
        volume.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(ISO_8859_1);
    }

    private void deleteAndCollect() {
        try {
            volume.snapshots().delete("first");
            awaitFreed();
            GarbageTrial.collect(volume, 0);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private void awaitFreed() throws IOException {
        try {
            volume.snapshots().freed().get();
        } catch (InterruptedException | ExecutionException e) {
            throw new IOException(e);
        }
        volume.sync();
    }

    /** The folders that are listed last do not become empty. */
    @Test
    void aCloneOfASnapshotThatIsDeletedMeanwhileFails() throws IOException {
        Attributes outer = volume.makeDirectory(Inode.ROOT, bytes("outer"), 0755, OWNER);
        Attributes inner = volume.makeDirectory(outer.inode(), bytes("inner"), 0755, OWNER);
        volume.makeNode(inner.inode(), bytes("file"), 0100644, 0, OWNER);
        volume.snapshots().create("first", 0, false);
        long root = TreeDigest.snapshotRoot(volume, "first");
        // It is listed once to count what is in it.
        metadata.beforeScan(Family.ENTRY, inner.inode(), 1, this::deleteAndCollect);
        assertThrows(
                IOException.class,
                () -> volume.maintenance().treeClone(Progress.NONE).run(root, Inode.ROOT, bytes("clone")));
        assertTrue(volume.snapshots().list().isEmpty(), "the snapshot was deleted meanwhile");
        assertEquals(
                Reason.ENOENT,
                assertThrows(PosixException.class, () -> volume.lookup(Inode.ROOT, bytes("clone")))
                        .reason());
    }

    /** No count changes without a recipe. */
    @Test
    void aCopyOutOfASnapshotThatIsDeletedMeanwhileFails() throws IOException {
        GarbageTrial.store(volume, "file", GarbageTrial.text(random, BYTES));
        volume.snapshots().create("first", 0, false);
        volume.unlink(Inode.ROOT, bytes("file"));
        volume.sync();
        Attributes old = volume.lookup(TreeDigest.snapshotRoot(volume, "first"), bytes("file"));
        OpenFile source = volume.open(old.inode(), false);
        Attributes made = volume.makeNode(Inode.ROOT, bytes("copy"), 0100644, 0, OWNER);
        OpenFile copy = volume.open(made.inode(), true);
        metadata.beforeScan(Family.RECIPE, made.inode(), 0, this::deleteAndCollect);
        assertEquals(
                Reason.ESTALE,
                assertThrows(PosixException.class, () -> volume.copy(source, 0, copy, 0, BYTES))
                        .reason());
        volume.close(source);
        volume.close(copy);
        assertEquals(List.of(), VolumeChecker.check(volume), "seed " + seed);
        assertEquals(0, volume.statistics().garbageBytes());
    }

    /** The commit of a deletion moves versions that only the deleted snapshot has. */
    @Test
    void whatTheCommitOfADeletionMovesIsFreedToo() throws Exception {
        GarbageTrial.store(volume, "file", GarbageTrial.text(random, BYTES));
        volume.snapshots().create("first", 0, false);
        volume.unlink(Inode.ROOT, bytes("file"));
        metadata.atCommit = () -> {
            // As the freeing of another snapshot that was deleted before.
            volume.snapshots().freeDeleted();
            try {
                volume.snapshots().freed().get();
            } catch (InterruptedException | ExecutionException e) {
                throw new IllegalStateException(e);
            }
        };
        volume.snapshots().delete("first");
        awaitFreed();
        assertFalse(hasVersions());
        assertEquals(List.of(), VolumeChecker.check(volume), "seed " + seed);
    }

    @Test
    void aDeletionThatWaitsForSpaceFreesWhenThereIsSome() throws Exception {
        GarbageTrial.store(volume, "file", GarbageTrial.text(random, BYTES));
        volume.snapshots().create("first", 0, false);
        volume.unlink(Inode.ROOT, bytes("file"));
        volume.sync();
        metadata.commitsToRefuse = 1;
        assertThrows(NoSpaceException.class, () -> volume.snapshots().delete("first"));
        TestWait.until(() -> {
            volume.sync();
            return volume.snapshots().beingFreed() == 0 && !hasVersions();
        });
        assertEquals(List.of(), VolumeChecker.check(volume), "seed " + seed);
    }

    /** Nothing is kept any more for a snapshot that nobody can delete. */
    @Test
    void theSnapshotOfThePresentEndsAlsoWhileChangesAreStopped() throws Exception {
        GarbageTrial.store(volume, "file", GarbageTrial.text(random, BYTES));
        SnapshotRecord present = volume.snapshots().withPresent(made -> {
            volume.unlink(Inode.ROOT, bytes("file"));
            metadata.failNextCommits(1);
            assertThrows(IOException.class, () -> volume.sync());
            assertNotNull(volume.stopped());
            return made;
        });
        assertTrue(present.number() > 0);
        assertTrue(volume.resume());
        assertEquals(0, volume.context().metadata().snapshots().newest());
        TestWait.until(() -> {
            volume.sync();
            return volume.snapshots().beingFreed() == 0 && !hasVersions();
        });
        assertEquals(List.of(), VolumeChecker.check(volume), "seed " + seed);
    }

    /** A volume that resumes takes changes before the commit ends that makes the deletion durable. */
    @Test
    void aDeletionThatFailedIsFreedAfterAResumeThatLasts() throws Exception {
        GarbageTrial.store(volume, "file", GarbageTrial.text(random, BYTES));
        volume.snapshots().create("first", 0, false);
        volume.unlink(Inode.ROOT, bytes("file"));
        volume.sync();
        metadata.failNextCommits(1);
        assertThrows(IOException.class, () -> volume.snapshots().delete("first"));
        assertNotNull(volume.stopped());
        metadata.atCommit = () -> Uninterruptibles.sleepUninterruptibly(1, TimeUnit.SECONDS);
        assertTrue(volume.resume());
        TestWait.until(() -> {
            volume.sync();
            return volume.snapshots().beingFreed() == 0 && !hasVersions();
        });
        assertEquals(List.of(), VolumeChecker.check(volume), "seed " + seed);
    }

    /** Its commit is made when there is space, and nobody sees what it made. */
    @Test
    void aCreationThatFindsNoSpaceChangesNothing() throws Exception {
        GarbageTrial.store(volume, "file", GarbageTrial.text(random, BYTES));
        volume.sync();
        Path folderOfMetadata = config.locations().metadata();
        metadata.commitsToRefuse = 1;
        long tomorrow = System.currentTimeMillis() + 86_400_000;
        assertThrows(NoSpaceException.class, () -> volume.snapshots().create("first", tomorrow, false));
        assertEquals(0, HeldUntil.of(folderOfMetadata));
        volume.unlink(Inode.ROOT, bytes("file"));
        volume.sync();
        assertEquals(List.of(), volume.snapshots().list());
        TestWait.until(() -> volume.snapshots().beingFreed() == 0);
        volume.sync();
        assertFalse(hasVersions());
        assertEquals(List.of(), VolumeChecker.check(volume), "seed " + seed);

        volume.snapshots().create("first", tomorrow, false);
        assertEquals(tomorrow, HeldUntil.of(folderOfMetadata), "the control");
        assertEquals(1, volume.snapshots().list().size());
    }

    /** The next collection returns the space of a snapshot, also of one whose versions are still being freed. */
    @Test
    void aCollectionWaitsForWhatIsBeingFreed() throws IOException {
        GarbageTrial.store(volume, "file", GarbageTrial.text(random, BYTES));
        volume.snapshots().create("first", 0, false);
        volume.unlink(Inode.ROOT, bytes("file"));
        volume.sync();
        CountDownLatch collecting = new CountDownLatch(1);
        metadata.beforeScan(Family.DEATH, 2, 0, () -> Uninterruptibles.awaitUninterruptibly(collecting));
        volume.snapshots().delete("first");
        int[] asked = {0};
        CollectionReport report;
        try {
            report = volume.context().collector().collect(new CollectionLimits(0, false), (done, bytes, returned) -> {
                // So often only while it waits.
                if (++asked[0] == 10) {
                    collecting.countDown();
                }
                return true;
            });
        } finally {
            collecting.countDown();
        }
        assertTrue(report.removed() > 0, report::toString);
        assertEquals(0, volume.statistics().garbageBytes());
    }

    /** A removed page takes few bytes in memory, and its version many in the batch. */
    @Test
    void whatIsKeptCountsAsPending() throws IOException {
        GarbageTrial.store(volume, "file", GarbageTrial.text(random, 30 * BYTES));
        volume.snapshots().create("first", 0, false);
        long before = volume.context().metadata().pendingBytes();
        volume.unlink(Inode.ROOT, bytes("file"));
        long pending = volume.context().metadata().pendingBytes() - before;
        volume.sync();
        long kept = 0;
        try (var records = metadata.scan(Family.VERSION, Keys.FIRST, Keys.END)) {
            while (records.next()) {
                kept += records.key().length + records.value().length;
            }
        }
        assertTrue(pending > kept, pending + " bytes, and " + kept + " were kept");
    }

    /** The oldest snapshot of a volume has all numbers before it in its gap. */
    @Test
    void numbersThatWereUsedBeforeCostNothing() throws IOException {
        volume.close();
        try (var batch = metadata.batch()) {
            batch.put(Family.SYSTEM, SystemRecords.NEXT_SNAPSHOT, SystemRecords.encodeNumber(1_000_000));
            batch.commit();
        }
        open();
        GarbageTrial.store(volume, "file", GarbageTrial.text(random, BYTES));
        volume.snapshots().create("first", 0, false);
        volume.unlink(Inode.ROOT, bytes("file"));
        volume.sync();
        metadata.scans = 0;
        assertTrue(volume.snapshots().bytesFreedBy(List.of("first"), Progress.NONE) >= BYTES / 2);
        volume.snapshots().delete("first");
        awaitFreed();
        assertFalse(hasVersions());
        assertTrue(metadata.scans < 1000, metadata.scans + " scans");
    }

    private boolean hasVersions() throws IOException {
        try (var versions = PresentRecords.of(volume.context().metadata()).versions()) {
            return versions.next();
        }
    }
}
