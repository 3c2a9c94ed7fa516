package org.opendedup.sar.sdfs.cli.command;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.VolumeDefinition;

class EnvironmentTest {
    private final VolumeDefinition volume = Definitions.plain("pool0", Path.of("/srv/pool0"));

    private static Environment with(String value) {
        PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
        return new Environment(Map.of("SDFS_CONFIG_DIR", value, "SDFS_RUN_DIR", value), nowhere, nowhere);
    }

    @Test
    void aVariableNamesAFolder() {
        assertEquals(Path.of("/etc/x"), with("/etc/x").configDirectory().folder());
        assertEquals(
                Path.of("/etc/x/pool0.sock"), with("/etc/x").runFiles(volume).socket());
        assertEquals(
                Path.of("/etc/x/pool0.sock"),
                with("/etc/x").pluginSocket("pool0", volume.config().locations()));
    }

    /** A script that exports a variable it never set must not have volumes written to the working folder. */
    @Test
    void anEmptyVariableIsNotSet() {
        assertEquals(ConfigDirectory.DEFAULT, with("").configDirectory().folder());
        assertEquals(
                Path.of("/srv/pool0/run/pool0.sock"), with("").runFiles(volume).socket());
        assertEquals(
                Path.of("/srv/pool0/ddb/run/pool0.sock"),
                with("").pluginSocket("pool0", volume.config().locations()));
    }
}
