package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.disks.LoopDisk;

/** A disk that is full, or cannot be written: the caller gets an error, and nothing is lost. */
class FullDiskTest {
    private static final int FILE_BYTES = 2 << 20;
    private static final long DISK_BYTES = 160L << 20;
    private static final int MOST_FILES = (int) (2 * DISK_BYTES / FILE_BYTES);

    @TempDir
    Path folder;

    @ParameterizedTest
    @MethodSource("org.opendedup.sar.sdfs.cli.daemon.FuseBindings#names")
    void aFullDiskIsToldToTheWriterAndLosesNothing(String binding) throws IOException {
        try (LoopDisk disk = new LoopDisk(folder, DISK_BYTES);
                MountedVolume volume = MountedVolume.make(
                        Files.createDirectory(folder.resolve("full")),
                        disk.folder().resolve("data"))) {
            volume.servedBy(binding).mount();

            List<Path> synced = fill(volume.mountPoint());

            assertTrue(synced.size() > 10, () -> "full after " + synced);
            checkFiles(volume, synced);
            // Deletes work on the full disk, and the remaining files are complete, now and after a remount.
            List<Path> kept = new ArrayList<>();
            for (int i = 0; i < synced.size(); i++) {
                if (i % 2 == 0) {
                    Files.delete(synced.get(i));
                } else {
                    kept.add(synced.get(i));
                }
            }
            checkFiles(volume, kept);
            volume.remount();
            checkFiles(volume, kept);
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

    private static void checkFiles(MountedVolume volume, List<Path> files) throws IOException {
        volume.dropKernelCaches();
        for (Path file : files) {
            int seed = Integer.parseInt(file.getFileName().toString().substring("file-".length()));
            Bytes.Comparison found = Bytes.compare(file, Bytes.random(seed, FILE_BYTES));
            assertEquals(new Bytes.Comparison(FILE_BYTES / 4096, 0, 0), found, file::toString);
        }
    }

    @Test
    void aDiskThatSomebodyElseFillsLosesNothingThatWasSynced() throws IOException {
        // Everything is on that disk here: containers, metadata, index, log.
        try (LoopDisk disk = new LoopDisk(folder, DISK_BYTES);
                MountedVolume volume =
                        MountedVolume.make(Files.createDirectory(disk.folder().resolve("shared")))) {
            volume.mount();
            List<Path> synced = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                Path file = volume.mountPoint().resolve("file-" + i);
                Bytes.writeAndSync(file, Bytes.random(i, FILE_BYTES));
                synced.add(file);
            }
            Path hog = disk.folder().resolve("hog");
            Commands.run("dd", "if=/dev/zero", "of=" + hog, "bs=1M", "conv=fsync");

            // A write that finds the disk full first gives back what the volume has reserved ahead.
            assertThrows(IOException.class, () -> {
                for (int i = 100; i < 100 + DISK_BYTES / FILE_BYTES; i++) {
                    Path file = volume.mountPoint().resolve("file-" + i);
                    Bytes.writeAndSync(file, Bytes.random(i, FILE_BYTES));
                    synced.add(file);
                }
            });
            checkFiles(volume, synced);
            Files.delete(hog);
            // The error may have made it read-only; a remount ends that.
            volume.remount();

            checkFiles(volume, synced);
            Files.delete(synced.remove(0));
            Path after = volume.mountPoint().resolve("file-200");
            Bytes.writeAndSync(after, Bytes.random(200, FILE_BYTES));
            synced.add(after);
            volume.remount();
            checkFiles(volume, synced);
            volume.unmount();
            assertEquals(List.of(), Recount.problems(volume));
        }
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
            checkFiles(volume, List.of(volume.mountPoint().resolve("file-1")));
        }
    }
}
