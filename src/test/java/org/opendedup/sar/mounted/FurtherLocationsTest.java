package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.disks.LoopDisk;
import org.opendedup.sar.sdfs.cli.report.Json;

/** A volume whose disk is full gets another one while it is mounted, and needs both from then on. */
class FurtherLocationsTest {
    /** An eighth of it, which stays free, is more than what is being written at any time. */
    private static final long DISK_BYTES = 160L << 20;

    private static final int FILE_BYTES = 4 << 20;

    @TempDir
    Path temporary;

    private final Map<String, Integer> written = new TreeMap<>();

    @Test
    void aFullVolumeGoesOnWithAnotherDisk() throws IOException {
        Path folder = Files.createDirectory(temporary.toRealPath().resolve("vol"));
        try (LoopDisk first = new LoopDisk(temporary.resolve("first"), DISK_BYTES);
                LoopDisk second = new LoopDisk(temporary.resolve("second"), 2 * DISK_BYTES);
                MountedVolume volume = MountedVolume.make(folder, first.folder().resolve("data"))) {
            volume.mount();
            int full = fill(volume, 100);
            assertTrue(full > 3 && full < 40, () -> full + " files");

            Path further = second.folder().resolve("more");
            String said = volume.run("add-location", further.toString());
            assertTrue(said.contains("from now on"), said);
            // A command that was interrupted can be repeated.
            assertTrue(volume.run("add-location", further.toString()).contains("from now on"));
            Commands.Result amongPacks =
                    volume.cli("restore", "file0", further.resolve("file0").toString());
            assertEquals(1, amongPacks.exitCode(), amongPacks::output);
            assertTrue(amongPacks.output().contains("for the volume's own files"), amongPacks::output);
            int more = fill(volume, 12);
            assertEquals(12, more, "the second disk takes them");
            assertTrue(packs(further) > 0);

            Map<String, Object> status = Json.read(volume.run("status", "--json"));
            List<Map<String, Object>> devices = Json.objects(status, "devices");
            assertTrue(
                    devices.stream()
                            .anyMatch(device -> further.toString().equals(device.get("folder"))
                                    && "ok".equals(device.get("state"))),
                    devices::toString);
            assertTrue(Json.read(volume.run("info", "--json"))
                    .get("furtherDataLocations")
                    .equals(further.toString()));
            volume.run("check");
            volume.run("scrub", "start", "--wait");
            checkFiles(volume);

            volume.unmount();
            Path away = Files.move(further, second.folder().resolve("away"));
            refusesToMount(volume, further + " is missing");
            // As if its disk were not mounted.
            Files.createDirectory(further);
            refusesToMount(volume, "no volume's data in " + further);
            Files.delete(further);
            Files.move(away, further);

            volume.mount();
            checkFiles(volume);
            volume.unmount();
            Commands.Result unmounted =
                    volume.cli("add-location", first.folder().resolve("third").toString());
            assertEquals(0, unmounted.exitCode(), unmounted::output);
            volume.mount();
            checkFiles(volume);
            // What the others have no room for is not moved, and nothing is lost.
            assertNotEquals(
                    0,
                    volume.cli("evacuate-location", further.toString(), "--wait")
                            .exitCode());
            checkFiles(volume);
            for (int file = 0; file < full + 4; file++) {
                delete(volume, "file" + file);
            }
            volume.run("gc", "--wait");
            volume.run("evacuate-location", further.toString(), "--wait");
            checkFiles(volume);
            assertFalse(Files.exists(further));
            assertNotEquals(
                    0, volume.cli("evacuate-location", volume.data().toString()).exitCode());
            volume.run("check");
            volume.unmount();
            volume.mount();
            checkFiles(volume);
            volume.unmount();
            volume.run("destroy", "--yes");
            assertFalse(Files.exists(further));
            assertFalse(Files.exists(first.folder().resolve("third")));
        }
    }

    /** The procedure of docs/operations/space.md for a disk that does not come back. */
    @Test
    void aLostDiskCostsTheBytesThatItHadAndNoName() throws IOException {
        Path folder = Files.createDirectory(temporary.toRealPath().resolve("vol"));
        try (LoopDisk first = new LoopDisk(temporary.resolve("first"), DISK_BYTES);
                LoopDisk second = new LoopDisk(temporary.resolve("second"), 2 * DISK_BYTES);
                MountedVolume volume = MountedVolume.make(folder, first.folder().resolve("data"))) {
            volume.mount();
            fill(volume, 1);
            Path further = second.folder().resolve("more");
            volume.run("add-location", further.toString());
            volume.unmount();
            volume.mount();
            fill(volume, 2);
            assertTrue(packs(further) > 0);
            volume.run("snapshot", "create", "all");
            volume.unmount();
            Path away = Files.move(further, second.folder().resolve("away"));
            Path file = volume.configFolder().resolve(volume.name() + "-volume-cfg.xml");
            Files.writeString(file, Files.readString(file).replaceFirst(" further-chunk-stores=\"[^\"]*\"", ""));
            refusesToMount(volume, "a data location that its file does not name");

            Commands.Result salvage = volume.script("sdfs-check", List.of(volume.name(), "--salvage-metadata=records"));
            assertEquals(2, salvage.exitCode(), salvage::output);
            assertTrue(salvage.output().contains("Damaged: /file1"), salvage::output);
            assertFalse(salvage.output().contains("Damaged: /file0"), salvage::output);
            volume.mount();
            volume.run("metadata-backup", "--accept-restored");
            assertArrayEquals(
                    Bytes.random(0, FILE_BYTES),
                    Files.readAllBytes(volume.mountPoint().resolve("file0")));
            Path damaged = volume.mountPoint().resolve("file1");
            assertThrows(IOException.class, () -> Files.readAllBytes(damaged), "the control: its bytes are lost");
            for (int seed = 1; seed < 3; seed++) {
                Bytes.writeAndSync(volume.mountPoint().resolve("again" + seed), Bytes.random(seed, FILE_BYTES));
            }
            volume.run("heal", "--wait");
            checkFiles(volume);
            assertArrayEquals(
                    Bytes.random(2, FILE_BYTES),
                    Files.readAllBytes(volume.mountPoint().resolve(".snapshots/all/file2")));
            volume.run("check");
            volume.unmount();
            assertTrue(packs(away) > 0);
        }
    }

    private void delete(MountedVolume volume, String name) throws IOException {
        Files.delete(volume.mountPoint().resolve(name));
        written.remove(name);
    }

    private static void refusesToMount(MountedVolume volume, String reason) throws IOException {
        Commands.Result refused = volume.tryMount(volume.mountPoint());
        assertNotEquals(0, refused.exitCode(), refused::output);
        assertTrue(refused.output().contains(reason), refused::output);
    }

    /** Writes files until one is refused, or there are as many as wanted. */
    private int fill(MountedVolume volume, int most) throws IOException {
        for (int done = 0; done < most; done++) {
            String name = "file" + written.size();
            int seed = written.size();
            try {
                Bytes.writeAndSync(volume.mountPoint().resolve(name), Bytes.random(seed, FILE_BYTES));
            } catch (IOException e) {
                assertTrue(String.valueOf(e.getMessage()).contains("No space left"), e.toString());
                Files.deleteIfExists(volume.mountPoint().resolve(name));
                return done;
            }
            written.put(name, seed);
        }
        return most;
    }

    private void checkFiles(MountedVolume volume) throws IOException {
        for (Map.Entry<String, Integer> file : written.entrySet()) {
            assertArrayEquals(
                    Bytes.random(file.getValue(), FILE_BYTES),
                    Files.readAllBytes(volume.mountPoint().resolve(file.getKey())),
                    file.getKey());
        }
    }

    private static long packs(Path location) throws IOException {
        try (Stream<Path> files = Files.walk(location)) {
            return files.filter(file -> file.toString().endsWith(".pack")).count();
        }
    }
}
