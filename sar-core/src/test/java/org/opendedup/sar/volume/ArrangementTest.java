package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.restore.fragmentation.FileFragmentation;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.parts.VolumeStatistics;
import org.opendedup.sar.volume.posix.Owner;

/** What an arrangement moves, and what it leaves as it was. On the file system of the temporary folder. */
class ArrangementTest extends OpenVolumeTrial {
    private static final int CHUNK = 4096;
    private static final int PIECE = 4 * CHUNK;
    private static final int PIECES = 24;
    private static final int APART = 512 << 10;
    /** A disk on which a seek costs as much as reading 200 kB. */
    private static final DiskModel DISK = DiskModel.configured(2, 100_000_000);

    private static final ArrangementLimits LIMITS = new ArrangementLimits(1, 1.1);

    /** An old file; and a newer one that has a short piece of it here and there between bytes of its own. */
    @Override
    VolumeConfig configured() {
        return VolumeConfigs.in(folder, 4L << 30, Chunking.SHA256);
    }

    @BeforeEach
    void makeFragmented() throws IOException {
        byte[] old = random(PIECES * APART);
        write("old", old);
        reopen();
        byte[] newest = random(2 * PIECES * PIECE);
        for (int piece = 0; piece < PIECES; piece++) {
            System.arraycopy(old, piece * APART, newest, 2 * piece * PIECE, PIECE);
        }
        write("newest", newest);
        reopen();
    }

    @AfterEach
    void check() throws IOException {
        volume.sync();
        assertContents();
        assertConsistent();
        reopen();
        assertContents();
    }

    private long inode(String name) throws IOException {
        long inode = volume.lookup(Inode.ROOT, name.getBytes(UTF_8)).inode();
        volume.forget(inode, 1);
        return inode;
    }

    private OpenFile create(String name) throws IOException {
        long inode = volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), 0100644, 0, new Owner(1, 1))
                .inode();
        OpenFile file = volume.open(inode, true);
        volume.forget(inode, 1);
        return file;
    }

    private byte[] read(OpenFile file, int length) throws IOException {
        ByteBuffer found = ByteBuffer.allocate(length);
        while (found.hasRemaining() && volume.read(file, found.position(), found) > 0) {}
        return found.array();
    }

    private ArrangementReport arrange(ArrangementLimits limits) throws IOException {
        return volume.maintenance().arrange(limits, DISK, Progress.NONE);
    }

    private void collect() throws IOException {
        volume.collector().collect(new CollectionLimits(0, false), (done, of, returned) -> true);
    }

    private FileFragmentation fragmentation(String name) throws IOException {
        return volume.maintenance().fragmentation(inode(name), DISK);
    }

    @Test
    void theNewestFileIsReadWithFewerRequestsFromNoMoreSpace() throws IOException {
        VolumeStatistics before = volume.statistics();
        collect();
        FileFragmentation fragmented = fragmentation("newest");
        // The control: a collection alone leaves every piece where it is.
        assertEquals(PIECES + 1, fragmented.requests(), 2, fragmented::toString);
        ArrangementReport report = arrange(LIMITS);
        collect();
        assertEquals(PIECES * PIECE, report.movedBytes());
        // Both files refer to each piece.
        assertEquals(2 * report.movedChunks(), report.replacedReferences());
        assertTrue(report.complete());
        FileFragmentation arranged = fragmentation("newest");
        assertTrue(arranged.requests() <= 3, arranged::toString);
        assertEquals(
                fragmented.seconds(DISK) - arranged.seconds(DISK),
                report.secondsBefore() - report.secondsAfter(),
                0.01,
                report::toString);
        assertTrue(arranged.seconds(DISK) < fragmented.seconds(DISK) / 3, arranged::toString);
        VolumeStatistics after = volume.statistics();
        assertEquals(before.uniqueBytes(), after.uniqueBytes());
        assertEquals(0, after.garbageBytes());
        assertTrue(after.storedBytes() < 1.01 * before.storedBytes(), () -> before + " before, now " + after);
    }

    @Test
    void whatIsArrangedIsNotMovedAgain() throws IOException {
        arrange(LIMITS);
        collect();
        ArrangementReport again = arrange(LIMITS);
        assertEquals(0, again.movedChunks(), again::toString);
        assertEquals(0, again.replacedReferences(), again::toString);
    }

    @Test
    void noMoreIsMovedThanTheLimitsAllow() throws IOException {
        long unique = volume.statistics().uniqueBytes();
        double share = 6.0 * PIECE / unique;
        ArrangementReport report = arrange(new ArrangementLimits(share, 1));
        assertTrue(report.movedBytes() > 0 && report.movedBytes() <= 6 * PIECE, report::toString);
        assertEquals(0, arrange(new ArrangementLimits(0, 1)).movedBytes());
        assertEquals(0, arrange(new ArrangementLimits(1, 100)).movedBytes());
    }

    @Test
    void movedChunksAreFoundAsDuplicates() throws IOException {
        arrange(LIMITS);
        collect();
        long unique = volume.statistics().uniqueBytes();
        write("again", contents.get("newest"));
        assertEquals(unique, volume.statistics().uniqueBytes());
    }

    @Test
    void whatIsWrittenMeanwhileIsStoredOnceToo() throws IOException {
        long unique = volume.statistics().uniqueBytes();
        boolean[] written = new boolean[1];
        ArrangementReport report = volume.maintenance().arrange(LIMITS, DISK, (stage, done, of) -> {
            // The new copies are garbage until the references to the old ones are replaced.
            if (!written[0] && garbageBytes() > 0) {
                written[0] = true;
                storeUnchecked("meanwhile", contents.get("newest"));
            }
        });
        assertTrue(written[0] && report.movedChunks() > 0, report::toString);
        assertEquals(unique, volume.statistics().uniqueBytes());
        collect();
        assertEquals(unique, volume.statistics().uniqueBytes());
        assertEquals(0, volume.statistics().garbageBytes());
    }

    private long garbageBytes() {
        return volume.context().metadata().totals().stored().garbageBytes();
    }

    private void storeUnchecked(String name, byte[] data) {
        try {
            write(name, data);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void whatAStoppedRunHasMovedIsStillFoundAsDuplicate() throws IOException {
        long unique = volume.statistics().uniqueBytes();
        assertThrows(
                InterruptedIOException.class,
                () -> volume.maintenance().arrange(LIMITS, DISK, (stage, done, of) -> {
                    if (garbageBytes() > 0) {
                        throw new InterruptedIOException("stopped");
                    }
                }));
        assertTrue(volume.statistics().garbageBytes() > 0, "it was stopped before it moved anything");
        collect();
        assertEquals(0, volume.statistics().garbageBytes());
        write("again", contents.get("newest"));
        assertEquals(unique, volume.statistics().uniqueBytes());
    }

    @Test
    void filesInUseMoveToo() throws IOException {
        byte[] old = contents.get("old");
        // A file without a name, one with bytes that are not stored yet, and a copy of ranges.
        OpenFile unnamed = create("unnamed");
        volume.write(unnamed, 0, ByteBuffer.wrap(old, 0, APART + PIECE));
        volume.sync(unnamed);
        volume.unlink(Inode.ROOT, "unnamed".getBytes(UTF_8));
        OpenFile dirty = volume.open(inode("newest"), true);
        byte[] over = random(CHUNK);
        volume.write(dirty, CHUNK, ByteBuffer.wrap(over));
        System.arraycopy(over, 0, contents.get("newest"), CHUNK, CHUNK);
        OpenFile source = volume.open(inode("old"), false);
        OpenFile target = create("copied");
        volume.copy(source, 0, target, 0, old.length);
        contents.put("copied", old);
        arrange(LIMITS);
        collect();
        assertEquals(0, volume.statistics().garbageBytes());
        assertArrayEquals(Arrays.copyOf(old, APART + PIECE), read(unnamed, APART + PIECE));
        assertContents();
        for (OpenFile file : List.of(unnamed, dirty, source, target)) {
            volume.close(file);
        }
    }

    /** The space of a moved chunk comes back, although the file that had it before is truncated and removed. */
    @Test
    void anArrangementThatIsStoppedLeavesEveryFileWhole() throws IOException {
        for (int calls = 1; calls < 12; calls++) {
            int[] left = {calls};
            assertThrows(
                    InterruptedIOException.class,
                    () -> volume.maintenance().arrange(LIMITS, DISK, (stage, done, of) -> {
                        if (left[0]-- <= 0) {
                            throw new InterruptedIOException("stopped");
                        }
                    }));
            assertContents();
        }
        remove("old");
        volume.sync();
        collect();
        assertEquals(0, volume.statistics().garbageBytes());
        assertEquals(contents.get("newest").length, volume.statistics().uniqueBytes());
    }
}
