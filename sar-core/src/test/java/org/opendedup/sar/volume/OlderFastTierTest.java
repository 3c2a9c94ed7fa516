package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.opendedup.sar.volume.FileHistory.filled;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestFolders;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.raw.FastTier;

/** The disk of the fast tier is put back as it was some mounts ago, for example from an image or a snapshot of it. */
class OlderFastTierTest {
    private static final byte[] OLD = filled(100_000, 1);
    private static final byte[] NEW = filled(100_000, 2);

    @MemoryFolder
    Path folder;

    private final FileHistory files = FileHistory.ofRawFiles();
    private VolumeConfig config;
    private Path raw;
    private Path older;
    private Volume volume;

    /** The file "stored" is in chunks as it is now, "only" is not, and "part" has changed bytes on the fast tier. */
    @BeforeEach
    void copyAndGoOn() throws IOException {
        raw = folder.resolve("ssd/raw");
        older = folder.resolve("older");
        config = VolumeConfigs.in(folder, 1L << 40, Chunking.VARIABLE_SHA256)
                .withSsd(
                        folder.resolve("ssd"),
                        new HotSettings(true, 64L << 20, 2, 1 << 20, true, 1000, HotSettings.Policy.REFERENCE_COUNT))
                .withRaw(new RawSettings(Placement.TDDFS, 1L << 30, 85, 70, 0));
        Volume.create(config);
        open();
        for (String name : List.of("stored", "only", "part")) {
            files.make(name);
            files.append(name, OLD);
        }
        files.migrate("part");
        files.write("part", 0, filled(1_000, 3));
        files.store();
        volume.close();
        TestFolders.copy(raw, older);
        open();
        for (String name : List.of("stored", "only")) {
            files.write(name, 0, NEW);
            files.sync(name);
        }
        files.write("part", 50_000, filled(1_000, 4));
        files.sync("part");
        files.copy("stored");
        volume.close();
    }

    @AfterEach
    void close() throws IOException {
        volume.close();
    }

    private void open() throws IOException {
        volume = Volume.open(config);
        files.use(volume);
    }

    private byte[] read(String name) throws IOException {
        OpenFile file = volume.open(files.inode(name), false);
        try {
            ByteBuffer target = ByteBuffer.allocate(OLD.length);
            volume.read(file, 0, target);
            return target.array();
        } finally {
            volume.close(file);
        }
    }

    private void put(Path from) throws IOException {
        Files.move(raw, raw.resolveSibling("away" + System.nanoTime()));
        TestFolders.copy(from, raw);
    }

    @Test
    void itIsNotUsed() throws IOException {
        Path newest = folder.resolve("newest");
        TestFolders.copy(raw, newest);
        put(older);
        open();
        String absent = volume.fastTier().summary().absent();
        assertTrue(absent != null && absent.contains("older copy"), absent);
        for (String name : List.of("stored", "only")) {
            assertThrows(IOException.class, () -> read(name), name);
        }
        IOException refused =
                assertThrows(IOException.class, () -> volume.fastTier().attach(false));
        assertTrue(refused.getMessage().contains("older copy"), refused.getMessage());
        assertThrows(IOException.class, () -> volume.fastTier().attach(true));

        put(newest);
        assertTrue(volume.fastTier().attach(false));
        assertEquals(List.of(), files.problems());
        volume.close();
        open();
        assertEquals(List.of(), files.problems());
        assertEquals(List.of(), VolumeChecker.check(volume));
    }

    @Test
    void aNewOneLeavesWhatTheContainersHave() throws IOException {
        put(older);
        open();
        Files.move(raw, folder.resolve("given-up"));
        assertTrue(volume.fastTier().attach(true));
        assertArrayEquals(NEW, read("stored"));
        assertEquals(List.of("only"), volume.fastTier().lost());
        files.make("new");
        files.append("new", OLD);
        volume.close();
        open();
        assertArrayEquals(NEW, read("stored"));
        assertArrayEquals(OLD, read("new"), "the next mount uses it");
        assertEquals(
                FastTier.Place.FAST_TIER,
                volume.fastTier().explain(files.inode("new")).place());
    }

    /** The metadata are older, and what they know on the fast tier was stored in chunks and deleted since. */
    @Test
    void changedBytesOfRestoredMetadataAreNotTakenForLostWhenItIsAttached() throws IOException {
        Path metadata = config.locations().metadata();
        Path backup = folder.resolve("backup");
        TestFolders.copy(metadata, backup);
        open();
        files.migrate("part");
        files.giveBack();
        volume.close();
        Files.move(metadata, folder.resolve("newer"));
        TestFolders.copy(backup, metadata);
        Path away = folder.resolve("away");
        Files.move(raw, away);
        open();
        Files.move(away, raw);
        assertTrue(volume.fastTier().attach(false));
        assertThrows(IOException.class, () -> read("part"));
    }

    /** A fast tier that was missing for some mounts is not older. */
    @Test
    void oneThatWasMissingIsUsed() throws IOException {
        Path away = folder.resolve("away");
        Files.move(raw, away);
        open();
        volume.close();
        open();
        volume.close();
        Files.move(away, raw);
        open();
        assertEquals(List.of(), files.problems());
    }

    /** Without its mark the older bytes take the place of the newer ones. */
    @Test
    void controlAnOlderOneThatSaysItIsTheNewestLosesBytes() throws IOException {
        Files.copy(raw.resolve("epoch"), older.resolve("epoch"), StandardCopyOption.REPLACE_EXISTING);
        put(older);
        open();
        assertArrayEquals(OLD, read("stored"));
        files.copy("stored");
        assertFalse(files.problems().isEmpty());
    }
}
