package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.disks.LoopDisk;

/** A disk that is full, or cannot be written: the caller gets an error, and nothing is lost. */
class FullDiskTest {
    private static final int FILE_BYTES = 2 << 20;
    private static final long DISK_BYTES = 96L << 20;
    private static final int MOST_FILES = (int) (2 * DISK_BYTES / FILE_BYTES);

    @TempDir
    Path folder;

    @Test
    void aFullDiskIsToldToTheWriterAndLosesNothing() throws IOException {
        try (LoopDisk disk = new LoopDisk(folder, DISK_BYTES);
                MountedVolume volume = MountedVolume.make(
                        Files.createDirectory(folder.resolve("full")),
                        disk.folder().resolve("data"))) {
            volume.mount();

            List<Path> synced = fill(volume.mountPoint());

            assertTrue(synced.size() > 10, () -> "full after " + synced);
            FullDevicesTest.checkFiles(volume, synced);
            // Deletes work on the full disk, and the remaining files are complete, now and after a remount.
            List<Path> kept = new ArrayList<>();
            for (int i = 0; i < synced.size(); i++) {
                if (i % 2 == 0) {
                    Files.delete(synced.get(i));
                } else {
                    kept.add(synced.get(i));
                }
            }
            FullDevicesTest.checkFiles(volume, kept);
            volume.remount();
            FullDevicesTest.checkFiles(volume, kept);
            volume.unmount();
            assertEquals(List.of(), Recount.problems(volume));
        }
    }

    /** Writes files until the disk is full. Returns those whose fsync succeeded. */
    private static List<Path> fill(Path target) throws IOException {
        List<Path> synced = new ArrayList<>();
        for (int i = 0; i < MOST_FILES; i++) {
            Path file = target.resolve("file-" + i);
            try {
                Bytes.writeAndSync(file, Bytes.random(i, FILE_BYTES));
            } catch (IOException e) {
                assertTrue(String.valueOf(e.getMessage()).contains("No space left on device"), e::toString);
                return synced;
            }
            synced.add(file);
        }
        throw new AssertionError(MOST_FILES + " files of " + FILE_BYTES + " bytes fit on " + DISK_BYTES);
    }

    @Test
    void aReadOnlyDataLocationIsRefusedWithAWord() throws IOException {
        try (LoopDisk disk = new LoopDisk(folder, DISK_BYTES);
                MountedVolume volume = MountedVolume.make(
                        Files.createDirectory(folder.resolve("readonly")),
                        disk.folder().resolve("data"))) {
            volume.mount();
            Bytes.writeAndSync(volume.mountPoint().resolve("file-1"), Bytes.random(1, FILE_BYTES));
            volume.unmount();
            disk.makeReadOnly();

            Commands.Result refused = volume.tryMount(volume.mountPoint());

            assertNotEquals(0, refused.exitCode(), refused::output);
            assertTrue(refused.output().contains(disk.folder().toString()), refused::output);
            disk.makeWritable();
            volume.mount();
            FullDevicesTest.checkFiles(volume, List.of(volume.mountPoint().resolve("file-1")));
        }
    }
}
