package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.disks.Commands;

/** Raw files of a mounted volume, administered by the commands; and what is left when their SSD is lost. */
class FastTierOnMountTest {
    @TempDir
    Path folder;

    private MountedVolume make(String... protection) throws IOException {
        var options = new ArrayList<>(List.of(
                "--sar-ssd-location=" + ssd(), "--sar-ssd-capacity=400MB", "--tier-mode=tddfs", "--tddfs-share=50"));
        options.addAll(List.of(protection));
        return MountedVolume.makeWith(folder.resolve("tiered"), options.toArray(String[]::new));
    }

    private Path ssd() {
        return folder.resolve("ssd");
    }

    private static byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        new Random(count).nextBytes(bytes);
        return bytes;
    }

    private static Commands.Result tier(MountedVolume volume, String... arguments) throws IOException {
        return volume.cli(Stream.concat(Stream.of("tier"), Stream.of(arguments)).toArray(String[]::new));
    }

    private static void assertTier(MountedVolume volume, String shown, String... arguments) throws IOException {
        Commands.Result result = tier(volume, arguments);
        assertEquals(0, result.exitCode(), result::output);
        assertTrue(result.output().contains(shown), () -> shown + " is not in " + result.output());
    }

    @Test
    void aNewFileIsRawUntilItIsMigratedAndAFolderMayDiffer() throws IOException {
        try (MountedVolume volume = make("--tddfs-journal=3600").mount()) {
            byte[] content = bytes(3_000_000);
            Path file = Files.write(volume.mountPoint().resolve("a"), content);
            assertTier(volume, "1 file", "status");
            assertTier(volume, "a: whole on the fast tier only", "explain", file.toString());

            Path archive = Files.createDirectory(volume.mountPoint().resolve("archive"));
            Commands.succeed("setfattr", "-n", "user.sdfs.tier", "-v", "sar", archive);
            Files.write(archive.resolve("b"), content);
            assertTier(volume, "new files are stored in chunks (sar)", "explain", archive.toString());
            assertTier(volume, "b: in chunks, deduplicated", "explain", "archive/b");

            assertTier(volume, "Pinned 1 raw file", "pin", "a");
            assertTier(volume, "not migrated, because it is pinned", "explain", "a");
            assertTier(volume, "Unpinned 1 raw file", "unpin", "a");
            assertTier(volume, "Migrated 1 file, 2.86 MiB; 1 in chunks before", "migrate", ".", "--wait");
            assertTier(volume, "a: in chunks, deduplicated", "explain", "a");
            assertArrayEquals(content, Files.readAllBytes(file));
            assertTier(volume, "Reloaded 2 files, 5.72 MiB: 100 % on the SSD", "reload", ".", "--wait");
            assertTier(volume, "100 % on the SSD, 0 B copied now", "reload", ".", "--wait");
            assertEquals(0, volume.figure("stats", "rawFiles"));

            try (RandomAccessFile opened = new RandomAccessFile(file.toFile(), "rw")) {
                opened.seek(1_000_000);
                opened.write(content, 0, 300_000);
                opened.getFD().sync();
            }
            System.arraycopy(content, 0, content, 1_000_000, 300_000);
            assertTier(volume, "293 KiB that were changed since", "explain", "a");
            assertArrayEquals(content, Files.readAllBytes(file));
            volume.remount();
            assertTier(volume, "293 KiB that were changed since", "explain", "a");
            assertArrayEquals(content, Files.readAllBytes(file));
            assertTier(volume, "Migrated 1 file, 293 KiB; 1 in chunks before", "migrate", ".");

            volume.remount();
            assertArrayEquals(content, Files.readAllBytes(file));
            assertTier(volume, "0 files", "status");
            volume.unmount();
        }
    }

    @Test
    void aFileInUseIsPassedOverAndNamed() throws IOException {
        try (MountedVolume volume = make("--tddfs-unprotected").mount()) {
            Path file = volume.mountPoint().resolve("open");
            try (var out = Files.newOutputStream(file)) {
                out.write(bytes(1000));
                out.flush();
                Commands.Result result = tier(volume, "migrate", ".");
                assertEquals(1, result.exitCode(), result::output);
                assertTrue(result.output().contains("in use: open"), result::output);
            }
            assertTier(volume, "Migrated 1 file", "migrate", ".", "--wait");
            assertArrayEquals(bytes(1000), Files.readAllBytes(file));
            volume.unmount();
        }
    }

    /** As the file system of an SSD that finds an error. */
    @Test
    void whatIsOnAFastTierThatBecameReadOnlyIsReadAndStoredInChunks() throws IOException {
        Files.createDirectory(ssd());
        Commands.succeed("mount", "-t", "tmpfs", "-o", "size=500m", "tmpfs", ssd());
        try (MountedVolume volume = make("--tddfs-unprotected").mount()) {
            Path raw = Files.write(volume.mountPoint().resolve("raw"), bytes(300_000));
            Path changed = Files.write(volume.mountPoint().resolve("changed"), bytes(200_000));
            assertTier(volume, "Migrated 1 file", "migrate", "changed", "--wait");
            byte[] content = bytes(200_000);
            try (RandomAccessFile opened = new RandomAccessFile(changed.toFile(), "rw")) {
                opened.write(++content[0]);
                opened.getFD().sync();
            }
            volume.unmount();
            Commands.succeed("mount", "-o", "remount,ro", ssd());
            volume.mount();
            assertArrayEquals(bytes(300_000), Files.readAllBytes(raw));
            assertArrayEquals(content, Files.readAllBytes(changed));
            assertThrows(IOException.class, () -> Files.write(raw, bytes(1), StandardOpenOption.APPEND));
            assertTier(volume, "Migrated 2 files", "migrate", ".", "--wait");
            Files.write(raw, bytes(20));
            volume.remount();
            assertArrayEquals(bytes(20), Files.readAllBytes(raw));
            assertArrayEquals(content, Files.readAllBytes(changed));
            volume.unmount();
        } finally {
            Commands.succeed("umount", ssd());
        }
    }

    @Test
    void aLostSsdLosesTheRawFilesAndTheirNamesAreTold() throws IOException {
        try (MountedVolume volume = make("--tddfs-unprotected").mount()) {
            Path kept = Files.write(volume.mountPoint().resolve("kept"), bytes(200_000));
            assertTier(volume, "Migrated 1 file", "migrate", "kept", "--wait");
            Path lost = Files.write(volume.mountPoint().resolve("lost"), bytes(100_000));
            volume.unmount();
            Commands.succeed("rm", "-r", ssd());
            volume.mount();
            assertTier(volume, "ABSENT", "status");
            assertHealth(volume, 1, "fast-tier-absent");
            assertThrows(IOException.class, () -> Files.readAllBytes(lost));
            assertArrayEquals(bytes(200_000), Files.readAllBytes(kept));
            assertEquals(1, tier(volume, "attach").exitCode(), "nothing is there");

            assertTier(volume, "  lost", "attach", "--new");
            assertHealth(volume, 2, "raw-files-lost");
            assertTier(volume, "lost: LOST", "explain", "lost");
            assertThrows(IOException.class, () -> Files.readAllBytes(lost));
            Files.write(volume.mountPoint().resolve("new"), bytes(5_000));
            Files.delete(lost);
            volume.remount();
            Commands.Result status = tier(volume, "status");
            assertTrue(!status.output().contains("Lost"), status::output);
            assertArrayEquals(
                    bytes(5_000), Files.readAllBytes(volume.mountPoint().resolve("new")));
            Commands.Result sar = volume.cli("sar", "attach");
            assertEquals(0, sar.exitCode(), sar::output);
            assertArrayEquals(
                    bytes(5_000), Files.readAllBytes(volume.mountPoint().resolve("new")));
            assertHealth(volume, 0, "\"well\"");
            volume.unmount();
        }
    }

    /** A kernel with a write-back cache takes no length from the service for a file that it knows. */
    @Test
    void aFileThatIsAsItWasWhenItWasCopiedHasThatLength() throws IOException {
        byte[] copied = bytes(200_000);
        try (MountedVolume volume =
                make("--tddfs-journal=1").with("nopassthrough").mount()) {
            Path file = Files.write(volume.mountPoint().resolve("f"), copied);
            TestWait.until(() -> tier(volume, "status").output().contains("Only there     0 files"));
            volume.unmount();
            Path settings = volume.configFolder().resolve("tiered-volume-cfg.xml");
            Files.writeString(settings, Files.readString(settings).replace("journal=\"1\"", "journal=\"3600\""));
            volume.mount();
            Files.write(file, bytes(100_000), StandardOpenOption.APPEND);
            volume.unmount();
            Commands.succeed("rm", "-r", ssd());
            volume.mount();
            assertEquals(300_000, Files.size(file), "the control: the kernel knows it longer");
            assertThrows(IOException.class, () -> Files.readAllBytes(file));
            assertTier(volume, "Attached", "attach", "--new");
            assertArrayEquals(copied, Files.readAllBytes(file));
            Files.write(file, new byte[] {1}, StandardOpenOption.APPEND);
            assertEquals(200_001, Files.size(file));
            volume.unmount();
        }
    }

    private static void assertHealth(MountedVolume volume, int code, String shown) throws IOException {
        Commands.Result result = volume.cli("status", "--json");
        assertTrue(result.output().contains(shown), result::output);
        assertEquals(code, result.exitCode(), result::output);
    }
}
