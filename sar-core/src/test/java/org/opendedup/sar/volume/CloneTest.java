package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
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
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.clone.CloneReport;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;

/** Clones of files and folders, on a volume that is in use. */
class CloneTest {
    private static final int KIB = 1 << 10;
    private static final long CAPACITY = 1L << 30;

    @MemoryFolder
    Path folder;

    private final long seed = TestSeed.next();
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
                .treeClone((stage, done, of) -> {})
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
        volume.maintenance().treeClone((stage, done, of) -> {});
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
        before.forEach((path, picture) -> {
            if (!path.equals(".")) {
                assertEquals(picture, before.get(path));
            }
        });
        assertEquals(2 * files - 1, volume.context().metadata().totals().files());
        assertEquals(2 * taken, volume.context().capacity().takenBytes());
    }

    @Test
    void aCloneThatFindsNoSpaceLeavesNothing() throws IOException {
        long source = trial.makeSource(seed);
        byte[] much = new byte[1 << 20];
        volume.sync();
        long taken = volume.context().capacity().takenBytes();
        long files = volume.context().metadata().totals().files();
        long spare = taken / 2;
        volume.context().capacity().change(CAPACITY - taken - spare);

        assertThrows(NoSpaceException.class, () -> trial.clone(source, "clone"));

        assertThrows(IOException.class, () -> trial.find("clone"));
        awaitFreed();
        volume.context().capacity().change(-(CAPACITY - taken - spare));
        assertEquals(taken, volume.context().capacity().takenBytes());
        assertEquals(files, volume.context().metadata().totals().files());
        assertTrue(much.length > 0);
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
                () -> volume.maintenance()
                        .treeClone((stage, done, of) -> {})
                        .run(source, directory, CloneTrial.bytes(name)));
        assertEquals(reason, refused.reason());
    }
}
