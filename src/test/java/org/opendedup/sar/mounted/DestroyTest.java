package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.volume.store.CheckFolder;

/**
 * The removal of volumes that were used, with each class of index: nothing of them is left, and nothing else is
 * touched.
 */
class DestroyTest {
    @ParameterizedTest
    @ValueSource(strings = {"rocksdb", "chunkstash", "silo"})
    void nothingOfAUsedVolumeIsLeft(String index, @TempDir Path temporary) throws IOException {
        Path folder = Files.createDirectory(temporary.toRealPath().resolve("vol"));
        Path ssd = folder.resolve("ssd");
        try (MountedVolume volume = MountedVolume.makeWith(
                folder,
                "--chunk-store-hashdb-class=" + index,
                "--sar-ssd-location=" + ssd,
                "--sar-ssd-capacity=100MB",
                "--tier-mode=tddfs",
                "--tddfs-journal=5")) {
            volume.mount();
            Bytes.writeAndSync(volume.mountPoint().resolve("raw"), Bytes.random(1, 300_000));
            Files.write(volume.mountPoint().resolve("migrated"), Bytes.random(2, 9_000_000));
            volume.run("tier", "migrate", "migrated", "--wait");
            Files.delete(volume.mountPoint().resolve("migrated"));
            volume.run("gc", "--wait");
            volume.run("check");

            Commands.Result refused = volume.cli("destroy", "--yes");
            assertEquals(1, refused.exitCode(), refused::output);
            assertTrue(refused.output().contains("mounted on " + volume.mountPoint()), refused::output);
            assertEquals(300_000, Files.size(volume.mountPoint().resolve("raw")), "the control: it is as it was");

            volume.remount();
            volume.unmount();
            // What a job leaves that a crash cut.
            for (String name : CheckFolder.NAMES) {
                Path scratch = Files.createDirectories(volume.metadata().resolve(name + "/scratch"));
                Files.writeString(scratch.resolve("chunks-0"), "left");
            }
            String said = volume.run("destroy", "--yes");
            assertTrue(said.startsWith("Removed the volume vol: "), said);
            assertFalse(said.contains("Not of the volume"), said);
            try (Stream<Path> left = Files.list(folder)) {
                assertEquals(
                        List.of(volume.configFolder(), volume.mountPoint()),
                        left.sorted().toList());
            }
            try (Stream<Path> left = Files.list(volume.configFolder())) {
                assertEquals(List.of(), left.toList());
            }
        }
    }

    /** Also what is on the same file system, where both have the same device number. */
    @Test
    void whatIsMountedBelowStays(@TempDir Path temporary) throws IOException {
        Path folder = Files.createDirectory(temporary.toRealPath().resolve("vol"));
        Path photos = Files.createDirectory(temporary.toRealPath().resolve("photos"));
        Files.writeString(photos.resolve("one"), "kept");
        try (MountedVolume volume = MountedVolume.makeWith(folder)) {
            Path below = Files.createDirectories(volume.data().resolve("0badcafe"));
            Path pack = photos.resolve("000000000001.pack");
            Files.writeString(pack, "kept");
            Commands.succeed("mount", "--bind", photos, below);
            try {
                String said = volume.run("destroy", "--yes");
                assertTrue(said.contains("Not of the volume: " + below), said);
            } finally {
                Commands.succeed("umount", below);
            }
            assertTrue(Files.exists(pack));
        }
    }
}
