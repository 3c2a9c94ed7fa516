package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.raw.MigrationPolicy;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.raw.FastTier;
import org.opendedup.sar.volume.raw.FastTier.Place;
import org.opendedup.sar.volume.raw.RawMover;

/** What the background migrates by itself, and in which order, on a real fast tier of one MiB. */
@Timeout(120)
class RawMoverTest {
    private static final long CAPACITY = 1 << 20;
    private static final int FILE_BYTES = 40 << 10;
    private static final Owner OWNER = new Owner(0, 0, 0);

    @MemoryFolder
    Path folder;

    private final Random random = new Random(TestSeed.next());
    private VolumeConfig config;

    @AutoClose
    private Volume volume;
    /** The files by the order of their creation. */
    private final List<Long> files = new ArrayList<>();
    /** The folder of each file. */
    private final Map<Long, Long> folders = new TreeMap<>();

    @BeforeEach
    void create() throws IOException {
        HotSettings sar = new HotSettings(true, 64L << 20, 2, 1 << 20, true, 1000, HotSettings.Policy.REFERENCE_COUNT);
        config = VolumeConfigs.in(folder, 1L << 40, Chunking.VARIABLE_SHA256)
                .withSsd(folder.resolve("ssd"), sar)
                .withRaw(new RawSettings(Placement.TDDFS, CAPACITY, 85, 70, 0));
        Volume.create(config);
        volume = Volume.open(config);
    }

    private long makeFolder(String name) throws IOException {
        return volume.makeNode(Inode.ROOT, name.getBytes(UTF_8), Modes.DIRECTORY | 0755, 0, OWNER)
                .inode();
    }

    private void store(long directory) throws IOException {
        String name = "file" + files.size();
        long inode = volume.makeNode(directory, name.getBytes(UTF_8), Modes.REGULAR | 0644, 0, OWNER)
                .inode();
        volume.forget(inode, 1);
        byte[] bytes = new byte[FILE_BYTES];
        random.nextBytes(bytes);
        OpenFile file = volume.open(inode, true);
        volume.write(file, 0, ByteBuffer.wrap(bytes));
        volume.close(file);
        files.add(inode);
        folders.put(inode, directory);
    }

    private Place place(long inode) throws IOException {
        return volume.fastTier().explain(inode).place();
    }

    private FastTier.Status status() throws IOException {
        return volume.fastTier().status();
    }

    private void awaitMeasured(long bytes) throws Exception {
        while (volume.fastTier().summary().usedBytes() < bytes) {
            Thread.sleep(20);
        }
    }

    @Test
    void theColdestFilesAreCopiedAheadWhenNobodyUsesTheVolume() throws Exception {
        // Use of 78 %: above the low threshold, below the high one.
        for (int i = 0; i < 20; i++) {
            store(Inode.ROOT);
        }
        awaitMeasured(20 * FILE_BYTES);
        long now = System.currentTimeMillis();
        RawMover mover = volume.context().mover();
        while (status().aheadFiles() == 0) {
            // The control: files that were used a moment ago stay, also when nobody uses the volume.
            mover.copyAhead(now);
            assertEquals(0, status().aheadFiles());
            Thread.sleep(100);
            mover.copyAhead(now + MigrationPolicy.AHEAD_AGE_MS + 60_000);
        }
        assertEquals(Place.BOTH, place(files.get(0)));
        assertEquals(Place.FAST_TIER, place(files.get(19)));
        long ahead = status().aheadBytes();
        // The last file may pass the threshold.
        assertTrue(ahead < CAPACITY * 15 / 100 + FILE_BYTES, ahead + " bytes are more than one migration moves");
        assertEquals(0, status().migratedFiles());
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    /** Returns the migrated files in the order of their chunks. */
    private List<Long> migratedInOrder() throws IOException {
        Map<Long, Long> byChunk = new TreeMap<>();
        for (long inode : files) {
            if (place(inode) == Place.CHUNKS) {
                long[] first = {Long.MAX_VALUE};
                volume.maintenance()
                        .forEachReference(
                                inode, (offset, chunk, at, length, prefix) -> first[0] = Math.min(first[0], chunk));
                byChunk.put(first[0], inode);
            }
        }
        return List.copyOf(byChunk.values());
    }

    /** Returns how often the folder changes from one file to the next. */
    private long changes(List<Long> inodes) {
        long changes = 0;
        for (int i = 1; i < inodes.size(); i++) {
            changes += folders.get(inodes.get(i)).equals(folders.get(inodes.get(i - 1))) ? 0 : 1;
        }
        return changes;
    }

    @Test
    void whatIsMigratedTogetherIsStoredFolderByFolder() throws Exception {
        long a = makeFolder("a");
        long b = makeFolder("b");
        for (int i = 0; i < 20; i++) {
            store(i % 2 == 0 ? a : b);
        }
        // Of these files the folders are not known any more; they are read.
        volume.close();
        volume = Volume.open(config);
        for (int i = 0; i < 4; i++) {
            store(i % 2 == 0 ? a : b);
        }
        while (status().migratedFiles() < 5) {
            Thread.sleep(20);
        }
        List<Long> migrated = migratedInOrder();
        assertTrue(migrated.size() >= 5, migrated::toString);
        assertEquals(1, changes(migrated), "the folders take turns");
        List<Long> byCreation = new ArrayList<>(migrated);
        byCreation.sort(null);
        assertNotEquals(1, changes(byCreation), "control: in the order of creation they would");
        assertFalse(migrated.contains(files.get(23)), "the file that was used last went first");
        assertEquals(List.of(), VolumeChecker.check(volume));
    }
}
