package org.opendedup.sar.sdfs.cli.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;

class LocationChangesTest {
    @TempDir
    Path folder;

    /** The move of all containers out of one location ends while another one is prepared. */
    @Test
    void aLocationThatIsLeftMeanwhileIsNotNamedAgain() throws IOException {
        Path left = folder.resolve("left");
        Path added = folder.resolve("added");
        Path file = folder.resolve("pool0-volume-cfg.xml");
        VolumeDefinition definition =
                Definitions.plain("pool0", folder.resolve("base")).withFurtherLocation(left);
        VolumeFile.write(file, definition);
        var settings = new KeptSettings(file, definition, folder.resolve("mount"), false);
        var locations = new LocationChanges(settings, prepared -> settings.forget(left), used -> {});
        assertEquals(
                Map.of(VolumeCommands.FOLDER, added.toString()),
                locations.add(Map.of(VolumeCommands.FOLDER, added.toString())));
        assertEquals(List.of(added), settings.present().furtherLocations());
    }

    /** Its files would lie among those of the containers. */
    @Test
    void aLocationThatWasAddedIsNoFolderForTheSsd() throws IOException {
        Path added = folder.resolve("added");
        Path file = folder.resolve("pool0-volume-cfg.xml");
        VolumeDefinition definition = Definitions.withSsd("pool0", folder.resolve("base"));
        VolumeFile.write(file, definition);
        var settings = new KeptSettings(file, definition, folder.resolve("mount"), false);
        settings.checkLocation(added.resolve("ssd"));
        settings.addLocation(added);
        assertThrows(IllegalArgumentException.class, () -> settings.checkLocation(added.resolve("ssd")));
        settings.forget(added);
        settings.checkLocation(added.resolve("ssd"));
    }
}
