package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opendedup.sar.sdfs.cli.command.CommandOutput;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.Json;
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
    void unmountOfWhatIsNotMountedSaysSo() {
        assertEquals(ExitCode.FAILED, cli("pool0", "unmount"));
        assertEquals("sdfscli: the volume 'pool0' is not mounted", output.err().strip());
    }

    /** As with {@code > /dev/full}. The control writes to what takes it. */
    @Test
    void outputThatCannotBeWrittenIsAFailure() {
        for (boolean takes : new boolean[] {true, false}) {
            var said = new StringWriter();
            var environment = new Environment(
                    Map.of("SDFS_CONFIG_DIR", folder.toString()),
                    new PrintWriter(takes ? new StringWriter() : new FullDevice(), true),
                    new PrintWriter(said, true));
            int code = CommandRunner.run(new SdfsCli(environment), environment, "pool0", "info");
            assertEquals(takes ? ExitCode.OK : ExitCode.FAILED, code);
            assertEquals(takes, said.toString().isEmpty(), said.toString());
            assertTrue(takes || said.toString().contains("the output could not be written"), said.toString());
        }
    }

    private static final class FullDevice extends Writer {
        @Override
        public void write(char[] characters, int offset, int length) throws IOException {
            throw new IOException("No space left on device");
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
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
                "'' | name a volume, a volume and a command",
                "stats | name the volume first",
                "pool0 statz | stats",
                "pool0 stats --jsn | --json",
                "a/b stats | no volume name",
                "pool0 top --interval=0 | it must be from 1 to 3600",
                "pool0 top --interval=3601 | it must be from 1 to 3600",
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
