package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.container.PackedContainer;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.disk.Importance;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.restore.fragmentation.FileFragmentation;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.rewrite.Defragmentation;
import org.opendedup.sar.volume.rewrite.Defragmentation.Limits;

/** Rewrites sparse containers of files of a real volume with chunks of 4 KiB that do not compress. */
@Timeout(60)
class DefragmentationTest extends OpenVolumeTrial {
    private static final int CHUNK = 4096;
    private static final int OLD_MIB = 16;
    /** Chunks of the old file that the new one wants: this number of each MiB. */
    private static final int CHUNKS_PER_MIB = 4;

    private static final int BORROWED = OLD_MIB * CHUNKS_PER_MIB * CHUNK;

    private byte[] old;
    private byte[] content;
    private long file;

    @Override
    VolumeConfig configured() {
        return VolumeConfigs.in(folder, 1L << 30, Chunking.SHA256);
    }

    @BeforeEach
    void makeFragmentedFile() throws IOException {
        Random random = new Random(1);
        old = new byte[OLD_MIB * MIB];
        random.nextBytes(old);
        write(make("old"), 0, old);
        // All its containers are sealed then.
        reopen();
        content = new byte[10 * MIB + BORROWED];
        random.nextBytes(content);
        for (int i = 0; i < OLD_MIB * CHUNKS_PER_MIB; i++) {
            // A page of its own between the borrowed ones, and a zero run.
            System.arraycopy(old, i * (MIB / CHUNKS_PER_MIB), content, i * 20 * CHUNK, CHUNK);
        }
        Arrays.fill(content, 2 * CHUNK, 5 * CHUNK, (byte) 0);
        file = make("file");
        write(file, 0, content);
    }

    @AfterEach
    void checkAndClose() throws IOException {
        volume.sync();
        assertConsistent();
    }

    @Test
    void sparseContainersAreRewrittenAndTheBytesStay() throws IOException {
        Defragmentation done = defragment(0.05, false);
        assertTrue(done.sparseContainers() >= OLD_MIB / 5, done::toString);
        assertEquals(BORROWED, done.wantedBytes());
        assertEquals(BORROWED, done.rewrittenBytes());
        assertEquals(BORROWED / CHUNK, done.rewrittenChunks());
        assertEquals(0, done.unreadableChunks());
        assertTrue(
                done.after().containers() <= done.before().containers() - done.sparseContainers() + 1, done::toString);
        assertTrue(done.after().speedFactor() > 1.3 * done.before().speedFactor(), done::toString);
        assertEquals(done.before().bytes(), done.after().bytes());
        assertArrayEquals(content, read(file));
        assertArrayEquals(old, read(lookup("old")));

        volume.sync();
        volume.close();
        volume = Volume.open(config);
        assertArrayEquals(content, read(lookup("file")));
    }

    @Test
    void whatIsDoneNeedNotBeDoneAgain() throws IOException {
        defragment(0.05, false);
        Defragmentation again = defragment(0.05, false);
        assertEquals(0, again.rewrittenChunks());
        assertEquals(again.before(), again.after());
    }

    @Test
    void laterBackupsReferToTheFreshCopies() throws IOException {
        defragment(0.05, false);
        FileFragmentation rewritten = volume.maintenance().fragmentation(file, DiskModel.HDD);
        long later = make("later");
        write(later, 0, content);
        assertEquals(
                rewritten.containers(),
                volume.maintenance().fragmentation(later, DiskModel.HDD).containers());
    }

    @Test
    void noMoreThanTheShareIsRewrittenTheSparsestFirst() throws IOException {
        Defragmentation little = defragment(0.02, false);
        assertTrue(little.rewrittenBytes() > 0 && little.rewrittenBytes() <= 0.02 * content.length, little::toString);
        Defragmentation nothing = defragment(0, false);
        assertEquals(0, nothing.rewrittenBytes());
        assertThrows(IllegalArgumentException.class, () -> new Limits(1.5, false));
        assertThrows(IllegalArgumentException.class, () -> new Limits(Double.NaN, false));
    }

    /** The references of a page that others have are not replaced for one snapshot. */
    @Test
    void aFileInASnapshotIsNotRewritten() throws IOException {
        volume.snapshots().create("snapshot", 0, false);
        long root = TreeDigest.snapshotRoot(volume, "snapshot");
        long inSnapshot = volume.lookup(root, "file".getBytes(UTF_8)).inode();
        Limits limits = new Limits(0.05, false);
        assertEquals(
                PosixException.Reason.EROFS,
                assertThrows(
                                PosixException.class,
                                () -> volume.maintenance().defragment(inSnapshot, DiskModel.HDD, limits, Progress.NONE))
                        .reason());
        Limits dry = new Limits(0.05, true);
        assertEquals(
                BORROWED,
                volume.maintenance()
                        .defragment(inSnapshot, DiskModel.HDD, dry, Progress.NONE)
                        .wantedBytes());
        GarbageTrial.collect(volume, 0);
        assertArrayEquals(content, read(file));
    }

    @Test
    void aDryRunChangesNothing() throws IOException {
        long chunks = volume.statistics().chunks();
        Defragmentation dry = defragment(0.05, true);
        assertEquals(BORROWED, dry.wantedBytes());
        assertEquals(0, dry.rewrittenChunks());
        assertEquals(dry.before(), volume.maintenance().fragmentation(file, DiskModel.HDD));
        assertEquals(chunks, volume.statistics().chunks());
    }

    @Test
    void itCanBeStoppedAndGoneOnWith() throws IOException {
        long chunks = volume.statistics().chunks();
        assertStopped(-1);
        assertEquals(chunks, volume.statistics().chunks(), "while the file is looked at");
        assertStopped(0);
        assertTrue(volume.statistics().chunks() > chunks);
        assertArrayEquals(content, read(file));
        defragment(0.05, false);
        assertArrayEquals(content, read(file));
    }

    /** @param after bytes; it is stopped when more are rewritten */
    private void assertStopped(long after) {
        assertThrows(
                InterruptedIOException.class,
                () -> volume.maintenance()
                        .defragment(file, DiskModel.HDD, new Limits(0.05, false), (stage, done, of) -> {
                            if (done > after) {
                                throw new InterruptedIOException("stopped");
                            }
                        }));
    }

    @Test
    void itReadsWhenItsTurnAtTheDiskComes() throws Exception {
        DiskQueue disk = volume.context().disk();
        FutureTask<Defragmentation> defragmenting = new FutureTask<>(() -> defragment(0.05, false));
        try (DiskQueue.Turn others = disk.enter(Importance.STEP)) {
            long chunks = volume.statistics().chunks();
            new Thread(defragmenting).start();
            while (volume.disk().background() == 0) {
                Thread.sleep(1);
            }
            assertEquals(chunks, volume.statistics().chunks());
            // Whoever waits for a turn holds no lock that a writer needs.
            write(make("meanwhile"), 0, content);
            volume.sync();
        }
        assertEquals(BORROWED, defragmenting.get().rewrittenBytes());
        assertArrayEquals(content, read(file));
        assertEquals(0, volume.disk().readers());
    }

    @Test
    void theContainerThatIsAppendedToIsLeftAsItIs() throws IOException {
        byte[] small = new byte[3 * CHUNK];
        new Random(2).nextBytes(small);
        System.arraycopy(old, 0, small, 0, CHUNK);
        System.arraycopy(old, OLD_MIB / 2 * MIB, small, CHUNK, CHUNK);
        long inode = make("small");
        write(inode, 0, small);
        byte[] neighbour = new byte[10 * CHUNK];
        new Random(3).nextBytes(neighbour);
        write(make("neighbour"), 0, neighbour);
        Limits dry = new Limits(1, true);
        assertEquals(
                2,
                volume.maintenance()
                        .defragment(inode, DiskModel.HDD, dry, Progress.NONE)
                        .sparseContainers());
        // The control: sealed, it is sparse like the others.
        volume.close();
        volume = Volume.open(config);
        assertEquals(
                3,
                volume.maintenance()
                        .defragment(lookup("small"), DiskModel.HDD, dry, Progress.NONE)
                        .sparseContainers());
    }

    @Test
    void aFullVolumeCanBeDefragmented() throws IOException {
        volume.context()
                .capacity()
                .take(
                        volume.context().metadata().quotas().account(0, 0, 0),
                        volume.context().capacity().freeBytes(false),
                        false);
        assertEquals(BORROWED, defragment(0.05, false).rewrittenBytes());
        // The control: it is full.
        assertThrows(NoSpaceException.class, () -> write(make("more"), 0, new byte[MIB]));
    }

    @Test
    void chunksOfAContainerThatCannotBeReadStay() throws IOException {
        PackedContainer damaged = PackedContainer.in(folder).get(1);
        byte[] whole = damaged.read();
        volume.maintenance().fragmentation(file, DiskModel.HDD);
        damaged.overwrite(0, new byte[whole.length]);
        Defragmentation done = defragment(0.05, false);
        damaged.overwrite(0, whole);
        assertTrue(done.unreadableChunks() > 0 && done.rewrittenChunks() > 0, done::toString);
        assertArrayEquals(content, read(file));
    }

    @Test
    void aFolderIsNotDefragmented() {
        var e = assertThrows(
                PosixException.class,
                () -> volume.maintenance()
                        .defragment(Inode.ROOT, DiskModel.HDD, new Limits(0.05, false), Progress.NONE));
        assertEquals(PosixException.Reason.EISDIR, e.reason());
    }

    private Defragmentation defragment(double share, boolean dryRun) throws IOException {
        return volume.maintenance().defragment(file, DiskModel.HDD, new Limits(share, dryRun), Progress.NONE);
    }

    private long lookup(String name) throws IOException {
        return volume.lookup(Inode.ROOT, name.getBytes(UTF_8)).inode();
    }
}
