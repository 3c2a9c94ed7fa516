package org.opendedup.sar.sdfs.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigDirectoryTest {
    @TempDir
    Path folder;

    @Test
    void listsTheVolumesByName() throws IOException {
        var directory = new ConfigDirectory(folder);
        VolumeFile.write(directory.fileOf("b"), Definitions.plain("b", folder));
        VolumeFile.write(directory.fileOf("a"), Definitions.plain("a", folder));
        Files.writeString(folder.resolve("notes.xml"), "none");
        assertEquals(List.of("a", "b"), directory.volumes());
        assertEquals(List.of(), new ConfigDirectory(folder.resolve("missing")).volumes());
    }

    @Test
    void namesTheKnownVolumesWhenOneIsUnknown() throws IOException {
        var directory = new ConfigDirectory(folder);
        VolumeFile.write(directory.fileOf("pool0"), Definitions.plain("pool0", folder));
        var e = assertThrows(NoSuchVolumeException.class, () -> directory.read("pool1"));
        assertTrue(e.getMessage().contains("known: pool0"), e.getMessage());
    }

    @Test
    void refusesAFileThatDescribesAnotherVolume() throws IOException {
        var directory = new ConfigDirectory(folder);
        VolumeFile.write(directory.fileOf("a"), Definitions.plain("b", folder));
        var e = assertThrows(VolumeFileException.class, () -> directory.read("a"));
        assertTrue(e.getMessage().contains("'b', not 'a'"), e.getMessage());
    }

    @Test
    void refusesANameThatIsAPath() {
        var directory = new ConfigDirectory(folder);
        assertThrows(IllegalArgumentException.class, () -> directory.read("../pool0"));
    }
}
