package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.metadata.quota.Account;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.volume.clone.CloneReport;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.raw.FastTier;

/** Clones of files and folders, on a volume that is in use. */
class CloneTest {
    private static final int KIB = 1 << 10;
    private static final long CAPACITY = 1L << 30;

    private static final HotSettings SAR =
            new HotSettings(true, 64L << 20, 2, 1 << 20, true, 1000, HotSettings.Policy.REFERENCE_COUNT);

    @MemoryFolder
    Path folder;

    private final long seed = TestSeed.next();
    private final Random random = new Random(seed);
    private VolumeConfig config;
    private Volume volume;
    private CloneTrial trial;

    @BeforeEach
    void makeVolume() throws IOException {
        config = VolumeConfigs.in(folder, CAPACITY, Chunking.VARIABLE_SHA256);
        Volume.create(config);
        open();
    }

    private void open() throws IOException {
        volume = Volume.open(config);
        trial = new CloneTrial(volume);
    }

    @AfterEach
    void closeVolume() throws IOException {
        volume.sync();
        assertEquals(List.of(), VolumeChecker.check(volume));
        volume.close();
    }

    private void awaitFreed() throws IOException {
        try {
            volume.context().reaper().freed().get();
        } catch (InterruptedException | ExecutionException e) {
            throw new IOException(e);
        }
    }

    @Test
    void aCloneIsWhatItsSourceIsAndThenItsOwn() throws IOException {
        long source = trial.makeSource(seed);
        SortedMap<String, String> before = trial.picture(source);
        volume.sync();
        long stored = volume.context().metadata().totals().stored().bytes();

        CloneReport report = trial.clone(source, "clone");

        assertEquals(before, trial.picture(trial.find("clone")));
        assertEquals(before, trial.picture(source));
        assertEquals(stored, volume.context().metadata().totals().stored().bytes());
        assertEquals(before.size(), report.entries());
        assertEquals(3, report.links());
        assertEquals(4, report.others());
        awaitFreed();
        volume.sync();
        assertEquals(List.of(), VolumeChecker.check(volume));

        long clone = trial.find("clone/below/page");
        long original = trial.find("source/below/page");
        byte[] bytes = trial.read(original);
        trial.write(clone, 1000, new byte[] {1, 2, 3});
        assertArrayEquals(bytes, trial.read(original));
        trial.write(original, 2000, new byte[] {4, 5, 6});
        assertEquals(3, trial.read(clone)[1002]);
        assertEquals(bytes[2000], trial.read(clone)[2000]);
        volume.unlink(trial.find("source/below"), CloneTrial.bytes("small"));
        SortedMap<String, String> cloned = trial.picture(trial.find("clone"));

        volume.close();
        open();

        assertEquals(cloned, trial.picture(trial.find("clone")));
        assertNotEquals(before, trial.picture(trial.find("source")));
    }

    @Test
    void aFileALinkOrAFolderInItselfCanBeCloned() throws IOException {
        long source = trial.makeSource(seed);
        SortedMap<String, String> before = trial.picture(source);
        for (String name : List.of("pages", "link", "device", "deep", "hole")) {
            long one = trial.find("source/" + name);
            Map<String, String> picture = trial.picture(one);
            trial.clone(one, name);
            if (name.equals("pages")) {
                assertEquals(1, volume.attributes(trial.find(name)).links());
                assertArrayEquals(trial.read(one), trial.read(trial.find(name)));
            } else {
                assertEquals(picture, trial.picture(trial.find(name)), name);
            }
        }
        volume.maintenance()
                .treeClone(Progress.NONE)
                .run(source, trial.find("source/deep"), CloneTrial.bytes("itself"));
        assertEquals(before, trial.picture(trial.find("source/deep/itself")));
    }

    @Test
    void aCloneThatIsStoppedLeavesNothing() throws IOException {
        long source = trial.makeSource(seed);
        volume.sync();
        SortedMap<String, String> before = trial.picture(Inode.ROOT);
        long files = volume.context().metadata().totals().files();
        long taken = volume.context().capacity().takenBytes();
        AtomicInteger calls = new AtomicInteger();
        trial.clone(source, "whole", (stage, done, of) -> calls.incrementAndGet());
        for (int stop : TestSeed.steps(calls.get(), 6).toArray()) {
            AtomicInteger left = new AtomicInteger(stop);
            assertThrows(
                    InterruptedIOException.class,
                    () -> trial.clone(source, "stopped", (stage, done, of) -> {
                        if (left.getAndDecrement() == 0) {
                            throw new InterruptedIOException("stopped");
                        }
                    }));
            assertThrows(IOException.class, () -> trial.find("stopped"));
        }
        awaitFreed();
        volume.sync();
        assertEquals(List.of(), VolumeChecker.check(volume));
        assertEquals(before.size() * 2 - 1, trial.picture(Inode.ROOT).size());
        assertEquals(2 * files - 1, volume.context().metadata().totals().files());
        assertEquals(2 * taken, volume.context().capacity().takenBytes());
    }

    /** Any user can make such a tree; neither the clone nor the removal of one may need a thread's stack for it. */
    @Test
    void aDeepTreeIsClonedAndRemoved() throws IOException {
        int depth = 3000;
        long source = trial.folder(Inode.ROOT, "source");
        long at = source;
        for (int level = 0; level < depth; level++) {
            trial.file(at, "file", new byte[] {1});
            at = trial.folder(at, "folder");
        }
        volume.sync();
        long files = volume.context().metadata().totals().files();

        assertEquals(depth, trial.clone(source, "clone").files());

        assertThrows(
                InterruptedIOException.class,
                () -> trial.clone(source, "stopped", (stage, done, of) -> {
                    if (done > 2 * depth - 10) {
                        throw new InterruptedIOException("stopped");
                    }
                }));
        awaitFreed();
        volume.sync();
        assertEquals(2 * files - 1, volume.context().metadata().totals().files());
    }

    @Test
    void aCloneThatFindsNoSpaceLeavesNothing() throws IOException {
        long source = trial.makeSource(seed);
        volume.sync();
        long taken = volume.context().capacity().takenBytes();
        long files = volume.context().metadata().totals().files();
        long spare = taken / 2;
        Account root = volume.context().metadata().quotas().account(0, 0, 0);
        volume.context().capacity().change(root, CAPACITY - taken - spare);

        assertThrows(NoSpaceException.class, () -> trial.clone(source, "clone"));

        assertThrows(IOException.class, () -> trial.find("clone"));
        awaitFreed();
        volume.context().capacity().change(root, -(CAPACITY - taken - spare));
        assertEquals(taken, volume.context().capacity().takenBytes());
        assertEquals(files, volume.context().metadata().totals().files());
    }

    @Test
    void aChunkThatCannotBeCountedOnceMoreIsStoredAgain() throws IOException {
        long source = trial.folder(Inode.ROOT, "source");
        long small = trial.file(source, "small", random(3000));
        long pages = trial.file(source, "long", random(800 * KIB));
        volume.sync();
        MetadataStore metadata = volume.context().metadata();
        List<Long> full = List.of(
                metadata.recipes().page(small, 0).chunkId(0),
                metadata.recipes().page(pages, 1).chunkId(3));
        SortedMap<String, String> before = trial.picture(source);
        long stored = metadata.totals().stored().bytes();
        for (long chunk : full) {
            metadata.counts()
                    .add(chunk, ReferenceCounts.MAX_COUNT - metadata.counts().count(chunk));
        }
        List<Long> counts = new ArrayList<>();
        trial.clone(source, "clone");
        assertEquals(before, trial.picture(trial.find("clone")));
        for (long chunk : full) {
            assertEquals(ReferenceCounts.MAX_COUNT, metadata.counts().count(chunk));
            metadata.counts().add(chunk, 1 - ReferenceCounts.MAX_COUNT);
            counts.add((long) metadata.counts().count(chunk));
        }
        assertEquals(List.of(1L, 1L), counts);
        long more = metadata.totals().stored().bytes() - stored;
        assertTrue(more > 3000 && more < 100 * KIB, "stored again: " + more);
    }

    /** The clone has what is on the fast tier; its own bytes are in chunks, and the source stays there. */
    @Test
    void filesOnTheFastTierAreCloned() throws IOException {
        volume.close();
        Path tiers = folder.resolve("tiers");
        config = VolumeConfigs.in(tiers, CAPACITY, Chunking.VARIABLE_SHA256)
                .withSsd(tiers.resolve("ssd"), SAR)
                .withRaw(new RawSettings(Placement.TDDFS, 64L << 20, 80, 60, 3600));
        Volume.create(config);
        open();
        long source = trial.folder(Inode.ROOT, "source");
        long small = trial.file(source, "small", random(3000));
        long pages = trial.file(source, "long", random(800 * KIB));
        volume.link(pages, source, CloneTrial.bytes("again"));
        trial.file(source, "empty", new byte[0]);
        long changed = trial.file(source, "changed", random(500 * KIB));
        assertTrue(volume.fastTier().migrate(changed));
        trial.write(changed, 200 * KIB, random(10 * KIB));
        volume.commit();
        assertEquals(FastTier.Place.FAST_TIER, volume.fastTier().explain(pages).place());

        CloneReport report = trial.clone(source, "clone");

        assertEquals(4, report.files());
        for (String name : List.of("small", "long", "empty", "changed")) {
            long original = trial.find("source/" + name);
            long clone = trial.find("clone/" + name);
            assertArrayEquals(trial.read(original), trial.read(clone), name);
            assertEquals(
                    volume.attributes(original).modifiedNs(),
                    volume.attributes(clone).modifiedNs(),
                    name);
            assertEquals(FastTier.Place.CHUNKS, volume.fastTier().explain(clone).place(), name);
        }
        assertEquals(FastTier.Place.BOTH, volume.fastTier().explain(small).place());
        assertEquals(trial.find("clone/long"), trial.find("clone/again"));
        OpenFile writer = volume.open(small, true);
        IOException busy = assertThrows(IOException.class, () -> trial.clone(source, "busy"));
        assertTrue(String.valueOf(busy.getMessage()).startsWith("small: "), busy.getMessage());
        assertThrows(IOException.class, () -> trial.find("busy"));
        volume.close(writer);
    }

    private byte[] random(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    @Test
    void whatIsThereOrNoFolderIsRefused() throws IOException {
        long source = trial.makeSource(seed);
        long file = trial.find("source/pages");
        assertRefused(Reason.EEXIST, source, Inode.ROOT, "source");
        assertRefused(Reason.ENOTDIR, source, file, "clone");
        assertRefused(Reason.EINVAL, source, Inode.ROOT, "..");
        assertRefused(Reason.ENAMETOOLONG, source, Inode.ROOT, "x".repeat(256));
        assertRefused(Reason.ESTALE, 1 << 30, Inode.ROOT, "clone");
    }

    private void assertRefused(Reason reason, long source, long directory, String name) {
        PosixException refused = assertThrows(
                PosixException.class,
                () -> volume.maintenance().treeClone(Progress.NONE).run(source, directory, CloneTrial.bytes(name)));
        assertEquals(reason, refused.reason());
    }
}
