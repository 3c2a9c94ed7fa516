package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.sdfs.cli.command.CommandOutput;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.RunningDaemon;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.OptionValues;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;
import org.opendedup.sar.sdfs.config.VolumeOptions;

@Timeout(30)
class SetCommandTest {
    private static final long TB = 1L << 40;

    @TempDir
    Path folder;

    private final FakeMountService service = new FakeMountService();
    private VolumeDefinition definition;
    private CommandOutput output;
    private RunningDaemon daemon;

    @BeforeEach
    void define() throws IOException {
        definition = Definitions.plain("pool0", folder.resolve("base")).with(VolumeOptions.CAPACITY, TB);
        VolumeFile.write(volumeFile(), definition);
        output = new CommandOutput(folder);
    }

    @AfterEach
    void unmount() throws Exception {
        if (daemon != null) {
            daemon.close();
        }
    }

    @Test
    void aMountedVolumeGrowsAtOnceAndInItsFile() throws Exception {
        mount();
        assertEquals(ExitCode.OK, set("--capacity=2TB", "maximum-full=90"), output.err());
        assertTrue(output.out().contains("capacity: 1TB -> 2TB, from now on"), output.out());
        assertTrue(service.events.contains("resize " + 2 * TB + " 90"), service.events::toString);
        assertEquals(2 * TB, read().get(VolumeOptions.CAPACITY));
        output = new CommandOutput(folder);
        assertEquals(ExitCode.OK, run("info", "--json"), output.err());
        assertEquals(2 * TB, Json.number(Json.read(output.out()), "capacityBytes"), "as it is now");
    }

    @Test
    void whatTheNextMountTakesIsOnlyKept() throws Exception {
        mount();
        assertEquals(ExitCode.OK, set("memory=2GB", "--write-threads=3", "--json"), output.err());
        Map<String, Object> report = Json.read(output.out());
        assertEquals("2GB", Json.object(report, "after").get("memory"));
        assertEquals(2L << 30, read().get(VolumeOptions.MEMORY_BUDGET));
        output = new CommandOutput(folder);
        assertEquals(ExitCode.OK, set("memory=3GB"), output.err());
        assertTrue(output.out().contains("memory: 2GB -> 3GB, from the next mount on"), output.out());
    }

    @Test
    void aCapacityBelowWhatIsUsedIsRefusedAndNotKept() throws Exception {
        mount();
        service.whenResized = () -> {
            throw new NoSpaceException("the files use more");
        };
        assertEquals(ExitCode.FAILED, set("--capacity=2MB"));
        assertTrue(output.err().contains("the files use more"), output.err());
        assertEquals(TB, read().get(VolumeOptions.CAPACITY));
    }

    @Test
    void whatCannotBeKeptHasNoEffect() throws Exception {
        mount();
        service.whenResized = () -> Files.deleteIfExists(volumeFile());
        assertEquals(ExitCode.FAILED, set("--capacity=2TB"));
        List<String> resized = service.events.stream()
                .filter(event -> event.startsWith("resize"))
                .toList();
        assertEquals(List.of("resize " + 2 * TB + " 95", "resize " + TB + " 95"), resized);
        VolumeFile.write(volumeFile(), definition);
    }

    @Test
    void aChangeOfAnUnmountedVolumeIsInTheAuditLog() throws Exception {
        assertEquals(ExitCode.OK, set("capacity=2TB"), output.err());
        assertEquals(ExitCode.FAILED, set("capacity=1TB"), "what is used is not known");
        Path further = folder.resolve("further");
        assertEquals(ExitCode.FAILED, run("add-location", further.toString()), "there is no volume yet");
        String ssd = folder.resolve("ssd").toString();
        assertEquals(ExitCode.OK, run("sar", "attach", ssd, "--capacity=1GB"), output.err());
        output = new CommandOutput(folder);
        assertEquals(ExitCode.OK, run("audit", "--json"), output.err());
        List<Map<String, Object>> lines = Json.objects(Json.read(output.out()), "lines");
        assertEquals(2, lines.size(), lines::toString);
        assertEquals("set", lines.get(0).get("what"));
        assertEquals("done", lines.get(0).get("result"));
        assertTrue(String.valueOf(lines.get(0).get("arguments")).contains("capacity=2TB"), lines::toString);
        assertEquals("sar", lines.get(1).get("what"));
        assertEquals(
                Map.of("action", "attach", "location", ssd, "capacity", 1 << 30),
                lines.get(1).get("arguments"));
    }

    @Test
    void theFileOfAnUnmountedVolumeIsChanged() throws Exception {
        assertEquals(ExitCode.OK, set("capacity=2TB", "gc-schedule=off"), output.err());
        assertTrue(output.out().contains("capacity: 1TB -> 2TB, from the next mount on"), output.out());
        assertEquals("off", read().get(VolumeOptions.COLLECTIONS));
        assertEquals(ExitCode.FAILED, set("capacity=1TB"), "what is used is not known");
        assertEquals(2 * TB, read().get(VolumeOptions.CAPACITY));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "memory=10MB",
                "write-threads=256 memory=256MB",
                "maximum-full=101",
                "scrub-schedule=often",
                "backup-interval=never",
                "volume-name=pool1",
                ""
            })
    void whatIsNotAllowedChangesNothing(String arguments) throws Exception {
        for (boolean mounted : List.of(false, true)) {
            if (mounted) {
                mount();
            }
            output = new CommandOutput(folder);
            int code = set(arguments.isEmpty() ? new String[0] : arguments.split(" "));
            assertTrue(code == ExitCode.USAGE || code == ExitCode.FAILED, () -> arguments + output.out());
            assertEquals(definition.values(), read());
        }
    }

    private OptionValues read() throws IOException {
        return VolumeFile.read(volumeFile()).values();
    }

    private Path volumeFile() {
        return folder.resolve("pool0-volume-cfg.xml");
    }

    private void mount() throws Exception {
        daemon = new RunningDaemon(folder, definition, service);
    }

    private int set(String... arguments) {
        String[] all = new String[arguments.length + 1];
        all[0] = "set";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        return run(all);
    }

    private int run(String... arguments) {
        String[] all = new String[arguments.length + 1];
        all[0] = "pool0";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        return CommandRunner.run(new SdfsCli(output.environment()), output.environment(), all);
    }
}
