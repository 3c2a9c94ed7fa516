package org.opendedup.sar.sdfs.cli.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.jobs.AttendedJobs;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.backup.MetadataBackups;

/** Where a copy of the metadata may be put. */
class BackupControlTest {
    @TempDir
    Path folder;

    @Test
    void aCopyIsNotMadeInTheVolumeNorAmongItsOwnFiles() throws Exception {
        VolumeDefinition definition = Definitions.plain("pool0", folder.resolve("base"));
        Volume.create(definition.engineConfig());
        Path mountPoint = Files.createDirectory(folder.resolve("mnt"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), mountPoint);
        // Added and left while it is mounted.
        Path further = Files.createDirectory(folder.resolve("further"));
        var present = new AtomicReference<>(definition.withFurtherLocation(further));
        try (Volume volume = Volume.open(definition.engineConfig());
                var jobs = new AttendedJobs<MetadataBackups.Copy>("pool0", BackupControl.COMMAND)) {
            var control = new BackupControl(
                    jobs, BackupTargets.of(volume.maintenance().backups(), present::get, mountPoint));
            for (Path inVolume : new Path[] {mountPoint.resolve("copy"), link.resolve("copy")}) {
                assertTrue(refusal(control, inVolume).contains("lies in the volume itself"));
                assertFalse(Files.exists(inVolume));
            }
            for (Map.Entry<String, Path> store : present.get().stores().entrySet()) {
                Path inStore = store.getValue().resolve("copy");
                assertTrue(refusal(control, inStore).contains(store.getKey()), store.toString());
                assertFalse(Files.exists(inStore));
            }
            Path inBase = definition.basePath().resolve("copy");
            assertTrue(refusal(control, inBase).contains("lies in the base path"));
            assertFalse(Files.exists(inBase));
            present.set(definition);
            Path elsewhere = further.resolve("copy");
            control.answer(request(elsewhere), new ControlServer.Caller());
            TestWait.until(() -> jobs.running().isEmpty());
            Map<String, Object> made = Json.object(control.numbered(1), BackupControl.MADE);
            assertEquals(1, Json.number(made, "number"), "control");
        }
    }

    private static String refusal(BackupControl control, Path target) {
        return String.valueOf(
                assertThrows(IOException.class, () -> control.answer(request(target), new ControlServer.Caller()))
                        .getMessage());
    }

    private static Map<String, Object> request(Path target) {
        return Map.of("action", JobControl.START, "folder", target.toString());
    }
}
