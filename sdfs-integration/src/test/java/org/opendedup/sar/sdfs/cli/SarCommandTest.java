package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.hot.FileExplanation.Verdict;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.sdfs.cli.command.CommandOutput;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.command.RunningDaemon;
import org.opendedup.sar.sdfs.cli.control.ControlSocket;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.control.SarControl;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;
import org.opendedup.sar.sdfs.jmx.FakeSar;
import org.opendedup.sar.sdfs.jmx.SarWithoutSsd;

@Timeout(30)
class SarCommandTest {
    @TempDir
    Path folder;

    private final FakeMountService service = new FakeMountService();
    private VolumeDefinition definition;
    private RunFiles files;
    private FakeSar ssd;
    private CommandOutput output;
    private boolean onTerminal;
    private RunningDaemon daemon;

    @BeforeEach
    void define() throws IOException {
        definition = Definitions.withSsd("pool0", folder.resolve("base"));
        VolumeFile.write(volumeFile(), definition);
        files = new RunFiles(definition, RunFiles.runFolder(definition));
        ssd = new FakeSar(folder.resolve("base/ssd"), definition.sar().hot());
        service.sar = ssd;
        output = new CommandOutput(folder);
    }

    @AfterEach
    void unmount() throws Exception {
        if (daemon != null) {
            daemon.close();
        }
    }

    @Test
    void statusShowsEverySection() throws Exception {
        mount();
        assertEquals(0, sar("status"), output.err());
        for (String shown : List.of(
                "online",
                folder.resolve("base/ssd").toString(),
                "500 MiB (49 %)",
                "1000 of at most 9000 entries",
                "24.0 bytes an entry",
                "77 items",
                "Offered since mounted: 200 chunks",
                "Promoted: 36 chunks, 3.00 MiB",
                "Not promoted: 666 chunks",
                "too few references",
                "Demoted since mounted: 90 chunks",
                "31 chunks, 2.00 MiB, in 32 requests",
                "40.00",
                "6.00 MiB not written yet, 43 chunks")) {
            assertTrue(output.out().contains(shown), () -> shown + " is not in\n" + output.out());
        }
    }

    @Test
    void statusAsJsonHasStableKeys() throws Exception {
        mount();
        assertEquals(0, sar("status", "--json"));
        Map<String, Object> status = Json.read(output.out());
        assertEquals(
                List.of(
                        "state",
                        "reason",
                        "location",
                        "parameters",
                        "space",
                        "memory",
                        "promotion",
                        "demotion",
                        "reads",
                        "log"),
                List.copyOf(status.keySet()));
        assertEquals(5, Json.object(status, "parameters").get("referenceCountThreshold"));
        assertEquals(
                300, Json.object(Json.object(status, "reads"), "ssdLatency").get("p999Micros"));
    }

    @Test
    void statsCarryTheSsdUnderStableKeys() throws Exception {
        mount();
        assertEquals(0, cli("pool0", "stats", "--json"));
        Map<String, Object> figures = Json.object(Json.read(output.out()), "sar");
        for (String key : List.of(
                "promotedChunks",
                "promotedBytes",
                "ssdHits",
                "ssdBytes",
                "homeReads",
                "homeBytes",
                "demotedChunks",
                "mapTableEntries",
                "ssdUsedBytes",
                "ssdCapacityBytes")) {
            assertTrue(figures.get(key) instanceof Number number && number.longValue() > 0, key);
        }
        assertEquals("online", figures.get("state"));
        assertEquals(0, cli("pool0", "stats"));
        assertTrue(output.out().contains("sar:"), output.out());
    }

    @Test
    void setChangesTheMountedVolumeAndItsFile() throws Exception {
        mount();
        assertEquals(0, sar("set", "--threshold=10", "--max-run=64KB"), output.err());
        assertTrue(output.out().contains("referenceCountThreshold: 5 -> 10"), output.out());
        assertTrue(output.out().contains("maxRunBytes: 128KB -> 64KB"), output.out());
        String unused = "The threshold of references has no effect with the policy cost, only with reference-count.";
        assertTrue(output.out().contains(unused), output.out());
        assertTrue(output.out().contains("in the background"), output.out());
        assertEquals(10, ssd.status().settings().referenceCountThreshold());
        assertEquals(10, kept().referenceCountThreshold());
        assertEquals(64 << 10, kept().maxRunBytes());
        assertEquals(0, sar("set", "--max-run=32KB"), output.err());
        assertFalse(output.out().contains("no effect"), output.out());
        assertEquals(0, sar("set", "--threshold=11", "--policy=reference-count"), output.err());
        assertFalse(output.out().contains("no effect"), output.out());
    }

    @Test
    void setChangesTheFileOfAVolumeThatIsNotMounted() throws Exception {
        assertEquals(
                0, sar("set", "--policy=reference-count", "--promote-on-read=false", "--lru-entries=7"), output.err());
        assertTrue(output.out().contains("policy: cost -> reference-count"), output.out());
        assertTrue(output.out().contains("takes effect at the next mount"), output.out());
        assertEquals(
                new HotSettings(true, 1L << 30, 5, 128 << 10, false, 7, HotSettings.Policy.REFERENCE_COUNT), kept());
    }

    @Test
    void setLeavesTheFileToADaemonThatIsStarting() throws Exception {
        Files.createDirectories(files.runFolder());
        try (LockFile lock = LockFile.tryAcquire(files.lock()).orElseThrow()) {
            assertEquals(ExitCode.FAILED, sar("set", "--threshold=10"));
        }
        assertTrue(output.err().contains("being mounted or unmounted"), output.err());
        assertEquals(5, kept().referenceCountThreshold());
    }

    @Test
    void setWaitsForTheSweepAndShowsItsProgress() throws Exception {
        mount();
        onTerminal = true;
        ssd.sweeps = 3;
        assertEquals(0, sar("set", "--threshold=10", "--wait"), output.err());
        assertTrue(output.err().contains("25 %, entries: 250 of 1000"), output.err());
        assertTrue(output.out().contains("Chunks that no longer qualified are demoted."), output.out());
    }

    @Test
    void setSaysWhenNothingChanges() throws Exception {
        mount();
        assertEquals(0, sar("set", "--threshold=5"));
        assertTrue(output.out().contains("Nothing changed"), output.out());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aValueThatIsNotAllowedIsRefusedAndNothingChanges(boolean mounted) throws Exception {
        if (mounted) {
            mount();
        }
        assertEquals(ExitCode.FAILED, sar("set", "--threshold=0"));
        assertTrue(output.err().contains("it must be from 1 to 2147483647"), output.err());
        for (String tooSmall : List.of("0", "1MB")) {
            assertEquals(ExitCode.FAILED, sar("resize", tooSmall));
            assertTrue(output.err().contains("it must be at least 8MB"), output.err());
        }
        assertEquals(definition.sar(), VolumeFile.read(volumeFile()).sar());
        assertEquals(List.of(), ssd.events);
    }

    @Test
    void whatTheSsdRefusesIsNotKept() throws Exception {
        mount();
        ssd.failure = new IOException("the SSD is gone");
        assertEquals(ExitCode.FAILED, sar("resize", "2GB"));
        assertTrue(output.err().contains("the SSD is gone"), output.err());
        assertEquals(1L << 30, kept().capacityBytes());
    }

    @Test
    void resizeChangesTheCapacity() throws Exception {
        mount();
        assertEquals(0, sar("resize", "2GB"), output.err());
        assertTrue(output.out().contains("capacityBytes: 1GB -> 2GB"), output.out());
        assertEquals(2L << 30, kept().capacityBytes());
    }

    @Test
    void demoteTakesABoundOrEverything() throws Exception {
        mount();
        assertEquals(0, sar("demote", "--below=3"), output.err());
        assertEquals(0, sar("demote", "--all", "--wait"), output.err());
        assertEquals(List.of("demote up to 2", "demote up to " + Integer.MAX_VALUE), ssd.events);
        assertEquals(ExitCode.FAILED, sar("demote", "--below=0"));
        assertEquals(ExitCode.USAGE, sar("demote"));
        assertEquals(ExitCode.USAGE, sar("demote", "--all", "--below=3"));
    }

    @Test
    void detachAndAttachAgain() throws Exception {
        mount();
        assertEquals(0, sar("detach"), output.err());
        assertEquals(0, sar("status"));
        assertTrue(output.out().contains("detached: an administrator took it away"), output.out());
        assertEquals(0, sar("attach"), output.err());
        assertEquals(0, sar("attach", folder.resolve("ssd2").toString()), output.err());
        assertEquals(
                List.of("detach", "attach " + folder.resolve("base/ssd"), "attach " + folder.resolve("ssd2")),
                ssd.events);
        assertEquals(folder.resolve("ssd2"), VolumeFile.read(volumeFile()).sar().ssdLocation());
    }

    @Test
    void anSsdMayNotLieInAnotherLocation() throws Exception {
        mount();
        assertEquals(
                ExitCode.FAILED, sar("attach", folder.resolve("base/ddb/ssd").toString()));
        assertTrue(output.err().contains("must not lie in the metadata location"), output.err());
        assertEquals(List.of(), ssd.events);
    }

    @Test
    void anotherFolderForAFastTierLeavesItsFilesInTheOldOne() throws Exception {
        String place = folder.resolve("ssd2").toString();
        assertEquals(0, sar("attach", place), output.err());
        assertFalse(output.out().contains("migrate"), output.out());
        VolumeFile.write(volumeFile(), Definitions.withFastTier("pool0", folder.resolve("base")));
        assertEquals(0, sar("attach", place), output.err());
        assertTrue(output.out().contains("are still in " + folder.resolve("base/ssd") + ". If"), output.out());
        assertEquals(0, sar("attach", place), output.err());
        assertFalse(output.out().contains("migrate"), output.out());
    }

    @Test
    void aVolumeWithoutSsdGetsOneBeforeItIsMounted() throws Exception {
        VolumeFile.write(volumeFile(), Definitions.plain("pool0", folder.resolve("base")));
        String place = folder.resolve("ssd").toString();
        assertEquals(ExitCode.FAILED, sar("attach", place));
        assertTrue(output.err().contains("add --capacity=SIZE"), output.err());
        assertEquals(0, sar("attach", place, "--capacity=3GB"), output.err());
        assertTrue(output.out().contains("sdfscli pool0 sar attach"), output.out());
        SarSettings settings = VolumeFile.read(volumeFile()).sar();
        assertEquals(folder.resolve("ssd"), settings.ssdLocation());
        assertEquals(3L << 30, settings.hot().capacityBytes());
        assertTrue(settings.hot().enabled());
    }

    @Test
    void aCapacityIsOnlyForTheFirstSsd() throws Exception {
        String place = folder.resolve("ssd2").toString();
        assertEquals(ExitCode.FAILED, sar("attach", place, "--capacity=3GB"));
        assertTrue(output.err().contains("leave out --capacity; to change its size: sdfscli pool0"), output.err());
        assertEquals(ExitCode.USAGE, sar("attach", "--capacity=3GB"));
        mount();
        assertEquals(ExitCode.FAILED, sar("attach", place, "--capacity=3GB"));
        assertTrue(output.err().contains("leave out --capacity; to change its size: sdfscli pool0"), output.err());
        assertEquals(definition.sar(), VolumeFile.read(volumeFile()).sar());
        assertEquals(List.of(), ssd.events);
        assertEquals(0, sar("attach", place), output.err());
    }

    @Test
    void withoutAnSsdEachCommandSaysHowToGetOne() throws Exception {
        definition = Definitions.plain("pool0", folder.resolve("base"));
        VolumeFile.write(volumeFile(), definition);
        files = new RunFiles(definition, RunFiles.runFolder(definition));
        service.sar = new SarWithoutSsd(definition.sar().hot());
        assertEquals(ExitCode.FAILED, sar("resize", "2GB"));
        assertTrue(output.err().contains("sdfscli pool0 sar attach FOLDER --capacity=SIZE"), output.err());
        mount();
        String place = folder.resolve("ssd2").toString();
        for (String command : List.of(
                "resize 2GB",
                "set --enabled=true",
                "demote --all",
                "demote --below=2",
                "detach",
                "attach",
                "attach " + place,
                "attach " + place + " --capacity=3GB")) {
            assertEquals(ExitCode.FAILED, sar(command.split(" ")), command);
            assertTrue(
                    output.err()
                            .contains("the volume has no SSD; to give it one, unmount it, and name the folder: "
                                    + "sdfscli pool0 sar attach FOLDER --capacity=SIZE"),
                    output.err());
        }
        assertEquals(definition.sar(), VolumeFile.read(volumeFile()).sar());
        assertEquals(0, sar("set", "--threshold=7"), output.err());
        assertTrue(output.out().contains("takes effect when it has one"), output.out());
    }

    @Test
    void ofADetachedSsdNothingIsDemotedNow() throws Exception {
        mount();
        assertEquals(0, sar("detach"), output.err());
        assertEquals(ExitCode.FAILED, sar("demote", "--all"));
        assertTrue(output.err().contains("the SSD is detached"), output.err());
        assertEquals(0, sar("set", "--threshold=7"), output.err());
        assertTrue(output.out().contains("are demoted when it is attached"), output.out());
        assertEquals(0, sar("attach"), output.err());
        assertEquals(0, sar("demote", "--all"), output.err());
    }

    @Test
    void explainShowsWhatTheSsdSaves() throws Exception {
        mount();
        assertEquals(0, sar("explain", "vm/disk.img"), output.err());
        assertTrue(output.out().contains("vm/disk.img: 1000 chunks"), output.out());
        assertTrue(output.out().contains("100 disk requests"), output.out());
        assertTrue(output.out().contains("24 SSD requests for 999 chunks"), output.out());
        assertTrue(output.out().contains(Verdict.ON_SSD.meaning()), output.out());
        assertFalse(output.out().contains("verdict"), output.out());
    }

    @Test
    void explainListsAllChunksOverSeveralReplies() throws Exception {
        mount();
        Path inMount = folder.resolve("mnt/vm/disk.img");
        assertEquals(0, sar("explain", inMount.toString(), "--chunks", "--json"), output.err());
        List<Map<String, Object>> chunks = Json.objects(Json.read(output.out()), "list");
        assertEquals(1000, chunks.size());
        for (int i = 0; i < chunks.size(); i++) {
            assertEquals(i * 1024, chunks.get(i).get("offset"));
        }
        assertEquals("on-ssd", chunks.get(0).get("verdict"));
    }

    @Test
    void explainRefusesWhatIsNotInTheVolume() throws Exception {
        mount();
        assertEquals(ExitCode.FAILED, sar("explain", "/etc/passwd"));
        assertTrue(output.err().contains("does not lie in the volume"), output.err());
        assertEquals(ExitCode.FAILED, sar("explain", "nothing"));
        assertTrue(output.err().contains("nothing is no file"), output.err());
    }

    @Test
    void theDaemonRefusesWhatItDoesNotKnow() throws Exception {
        mount();
        refuses(Map.of(), "'action' is missing");
        refuses(Map.of("action", "format"), "no action 'format'");
        refuses(Map.of("action", "status", "x", 1), "'x' is not known");
        refuses(Map.of("action", "set", "changes", 5), "not an object");
        refuses(Map.of("action", "set", "changes", Map.of("colour", 1)), "'colour' is no parameter");
        refuses(Map.of("action", "set", "changes", Map.of("enabled", "yes")), "'yes' is not one of true, false");
        refuses(Map.of("action", "set", "changes", Map.of("maxRunBytes", 1L << 40)), "it must be from 1B to 1GB");
        refuses(Map.of("action", "demote", "below", "few"), "not a whole number");
        refuses(Map.of("action", "chunks", "path", "vm/disk.img", "from", -1), "at least 0");
        assertEquals(List.of(), ssd.events);
    }

    @ParameterizedTest
    @ValueSource(strings = {"status", "demote --all", "detach", "attach", "explain x"})
    void whatNeedsAMountSaysHowToMount(String command) {
        assertEquals(ExitCode.NOT_MOUNTED, sar(command.split(" ")));
        assertTrue(output.err().contains("mount it: mount.sdfs pool0 MOUNTPOINT"), output.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "status", "set", "explain", "demote", "resize", "detach", "attach"})
    void everyCommandHasHelpWithExamples(String command) {
        assertEquals(0, command.isEmpty() ? sar("--help") : sar(command, "--help"));
        assertTrue(output.out().contains("Usage: sdfscli VOLUME sar"), output.out());
        assertTrue(command.isEmpty() || output.out().contains("Example"), output.out());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "set | name a parameter to set",
                "set --policy=luck | not one of reference-count, cost",
                "set --threshold=few | 'few' is not a whole number",
                "resize | Missing required parameter",
                "resize lots | 'lots' is not a size",
            })
    void refusesWrongUsageWithCode2(String arguments, String message) {
        assertEquals(ExitCode.USAGE, sar(arguments.split(" ")));
        assertTrue(output.err().contains(message), output.err());
    }

    private void refuses(Map<String, Object> arguments, String why) {
        var e = assertThrows(IOException.class, () -> ControlSocket.ask(files.socket(), SarControl.COMMAND, arguments));
        assertTrue(e.getMessage().contains(why), e.getMessage());
    }

    private HotSettings kept() throws IOException {
        return VolumeFile.read(volumeFile()).sar().hot();
    }

    private Path volumeFile() {
        return new ConfigDirectory(folder).fileOf("pool0");
    }

    private void mount() throws Exception {
        daemon = new RunningDaemon(folder, definition, service);
    }

    /** Runs a sar command; its output is alone in {@link #output}. */
    private int sar(String... arguments) {
        var all = new ArrayList<>(List.of("pool0", "sar"));
        all.addAll(List.of(arguments));
        return cli(all.toArray(String[]::new));
    }

    private int cli(String... arguments) {
        output = new CommandOutput(folder, onTerminal);
        return CommandRunner.run(new SdfsCli(output.environment()), output.environment(), arguments);
    }
}
