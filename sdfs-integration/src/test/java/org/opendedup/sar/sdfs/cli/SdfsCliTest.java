package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.VolumeFile;

class SdfsCliTest {
    @TempDir
    Path folder;

    private CommandOutput output;

    @BeforeEach
    void makeAVolume() throws IOException {
        output = new CommandOutput(folder);
        VolumeFile.write(
                new ConfigDirectory(folder).fileOf("pool0"), Definitions.plain("pool0", folder.resolve("base")));
    }

    @Test
    void infoWorksWithoutADaemon() throws IOException {
        assertEquals(0, cli("pool0", "info", "--json"));
        Map<String, Object> info = Json.read(output.out());
        assertEquals("not mounted", info.get("state"));
        assertEquals("pool0", info.get("name"));
        assertEquals(10L << 30, info.get("capacityBytes"));
        assertEquals(0, cli("pool0", "info"));
        assertTrue(output.out().contains("  state                    not mounted"), output.out());
    }

    @Test
    void statsSaysHowToMount() {
        assertEquals(ExitCode.FAILED, cli("pool0", "stats"));
        assertEquals(
                "sdfscli: the volume 'pool0' is not mounted; mount it: mount.sdfs pool0 MOUNTPOINT",
                output.err().strip());
    }

    @Test
    void listsTheVolumesEvenWhenAFileIsDamaged() throws IOException {
        Files.writeString(new ConfigDirectory(folder).fileOf("broken"), "<subsystem");
        assertEquals(0, cli("--list"));
        assertTrue(output.out().contains("pool0"), output.out());
        assertTrue(output.out().contains("not mounted"), output.out());
        assertTrue(output.out().contains("unknown: "), output.out());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'' | name a volume and a command",
                "pool0 | name a command",
                "stats | name the volume first",
                "pool0 statz | stats",
                "pool0 stats --jsn | --json",
                "a/b stats | no volume name",
            })
    void refusesWrongUsageWithCode2(String arguments, String message) {
        assertEquals(ExitCode.USAGE, cli(arguments.isEmpty() ? new String[0] : arguments.split(" ")));
        assertTrue(output.err().contains(message), output.err());
    }

    @ParameterizedTest
    @CsvSource({"--help", "--version", "info --help", "pool0 stats --version", "unmount --help"})
    void helpAndVersionSucceed(String arguments) {
        assertEquals(0, cli(arguments.split(" ")));
        assertTrue(output.out().length() > 10, output.out());
    }

    private int cli(String... arguments) {
        return CommandRunner.run(new SdfsCli(output.environment()), output.environment(), arguments);
    }
}
