package org.opendedup.sar.sdfs.cli.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.volume.Volume;

/** Where a copy of the metadata may be put. */
class BackupControlTest {
    @TempDir
    Path folder;

    @Test
    void aCopyIsNotMadeInTheVolumeNorAmongItsOwnFiles() throws IOException {
        VolumeDefinition definition = Definitions.plain("pool0", folder.resolve("base"));
        Volume.create(definition.engineConfig());
        Path mountPoint = Files.createDirectory(folder.resolve("mnt"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), mountPoint);
        try (Volume volume = Volume.open(definition.engineConfig())) {
            var control =
                    new BackupControl(BackupTargets.of(volume.maintenance().backups(), definition, mountPoint));
            for (Path inVolume : new Path[] {mountPoint.resolve("copy"), link.resolve("copy")}) {
                assertTrue(refusal(control, inVolume).contains("lies in the volume itself"));
                assertFalse(Files.exists(inVolume));
            }
            for (Map.Entry<String, Path> store : definition.stores().entrySet()) {
                Path inStore = store.getValue().resolve("copy");
                assertTrue(refusal(control, inStore).contains(store.getKey()), store.toString());
                assertFalse(Files.exists(inStore));
            }
            Path inBase = definition.basePath().resolve("copy");
            assertTrue(refusal(control, inBase).contains("lies in the base path"));
            assertFalse(Files.exists(inBase));
            Path elsewhere = folder.resolve("elsewhere");
            assertEquals(1L, control.answer(request(elsewhere)).get("number"), "control");
        }
    }

    private static String refusal(BackupControl control, Path target) {
        return String.valueOf(assertThrows(IOException.class, () -> control.answer(request(target)))
                .getMessage());
    }

    private static Map<String, Object> request(Path target) {
        return Map.of("action", BackupControl.MAKE, "folder", target.toString());
    }
}
