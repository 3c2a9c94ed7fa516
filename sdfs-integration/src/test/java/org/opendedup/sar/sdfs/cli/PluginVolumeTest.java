package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.sdfs.cli.command.CommandOutput;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.control.ControlServer;
import org.opendedup.sar.sdfs.cli.report.DaemonState;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.cli.report.StatusReport;
import org.opendedup.sar.sdfs.scrub.FakeScrub;
import org.opendedup.sar.volume.config.OtherHistory;

/** What sdfscli does with a volume of OpenDedup SDFS with the plugin, whose process is replaced here. */
@Timeout(30)
class PluginVolumeTest {
    @TempDir
    Path folder;

    private CommandOutput output;
    private Path store;
    private Path socket;
    private final List<String> asked = new CopyOnWriteArrayList<>();

    @BeforeEach
    void makeVolumeFile() throws IOException {
        store = folder.resolve("chunks");
        socket = store.resolve("sar/metadata/run/sdfs0.sock");
        Files.createDirectories(socket.getParent());
        Files.createDirectories(store.resolve("sar/data"));
        Files.writeString(
                folder.resolve("sdfs0-volume-cfg.xml"),
                "<subsystem-config version=\"3.12.0\"><volume name=\"sdfs0\"/><local-chunkstore chunkstore-class=\""
                        + "org.opendedup.sar.plugin.SarChunkStore\" chunk-store=\"" + store
                        + "\"><extended-config sar-name=\"other\"/></local-chunkstore></subsystem-config>");
    }

    private int cli(String... arguments) {
        var all = new ArrayList<>(List.of("sdfs0"));
        all.addAll(List.of(arguments));
        return run(all.toArray(String[]::new));
    }

    private int run(String... arguments) {
        return run(new CommandOutput(folder), arguments);
    }

    private int run(CommandOutput to, String... arguments) {
        output = to;
        return CommandRunner.run(new SdfsCli(to.environment()), to.environment(), arguments);
    }

    /** Answers every command, as if it were SDFS's process. */
    private ControlServer serve(Path at, Object answer) throws IOException {
        Map<String, ControlServer.Handler> handlers = new HashMap<>();
        for (String command : List.of("ping", "status", "stats", "scrub", "gc")) {
            handlers.put(command, (arguments, caller) -> {
                asked.add(command);
                return answer;
            });
        }
        return ControlServer.start(at, handlers, command -> "not known");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "info",
                "df",
                "top",
                "file a",
                "file /mnt/a",
                "defrag a",
                "damaged",
                "restore a /tmp/b",
                "sar explain a",
                "sar attach /ssd --capacity=1GB",
                "index convert chunkstash",
                "index join",
                "index stop",
                "snapshot list",
                "snapshot create a",
                "snapshot rollback a",
                "tier status",
                "tier pin a",
                "support-bundle",
                "unmount"
            })
    void whatNeedsFilesOrAVolumeFileIsRefusedMountedOrNot(String command) throws IOException {
        assertEquals(ExitCode.FAILED, cli(command.split(" ")));
        assertRefused();
        try (ControlServer server = serve(socket, Map.of())) {
            assertEquals(ExitCode.FAILED, cli(command.split(" ")));
            assertRefused();
            assertEquals(List.of(), asked);
        }
    }

    private void assertRefused() {
        assertTrue(
                output.err().startsWith("sdfscli: sdfs0 is a volume of OpenDedup SDFS with the plugin: "),
                output.err());
        assertEquals(1, output.err().lines().count(), output.err());
        assertEquals("", output.out());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "stats",
                "resume",
                "gc",
                "gc --wait",
                "gc status",
                "gc stop",
                "gc set --rate=20",
                "scrub start --wait",
                "scrub status",
                "heal --wait",
                "heal status",
                "check",
                "metadata-backup /tmp/backup",
                "index status",
                "sar status",
                "sar set --threshold=3",
                "sar resize 1GB",
                "sar attach"
            })
    void whatAsksTheProcessSaysThatTheVolumeIsNotMounted(String command) throws IOException {
        assertEquals(ExitCode.NOT_MOUNTED, cli(command.split(" ")));
        String message = "sdfscli: the volume 'sdfs0' is not mounted; mount it with OpenDedup SDFS.";
        assertTrue(output.err().startsWith(message), output.err());
        leaveSocket();
        assertEquals(ExitCode.NOT_MOUNTED, cli(command.split(" ")));
        assertTrue(output.err().startsWith(message), "after a kill: " + output.err());
    }

    /** What a killed process leaves. */
    private void leaveSocket() throws IOException {
        try (ServerSocketChannel killed = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            killed.bind(UnixDomainSocketAddress.of(socket));
        }
        assertTrue(Files.exists(socket));
    }

    @Test
    void theStatusOfAVolumeThatIsNotMountedIsNotKnown() throws IOException {
        assertEquals(ExitCode.NOT_MOUNTED, cli());
        assertTrue(output.out().startsWith("sdfs0: not mounted\n"), output.out());
        assertTrue(output.out().contains("Mount it with OpenDedup SDFS"), output.out());
        assertEquals(ExitCode.NOT_MOUNTED, cli("status", "--json"));
        assertEquals(Map.of("name", "sdfs0", "health", "unknown", "state", "not mounted"), Json.read(output.out()));
        assertEquals(ExitCode.OK, run("--list"));
        assertTrue(output.out().matches("sdfs0 +not mounted\n"), output.out());
    }

    @Test
    void theHealthDecidesTheExitCode() throws IOException {
        for (String health : List.of("well", "degraded", "damaged")) {
            var report = new StatusReport(
                    "sdfs0",
                    health,
                    new DaemonState("mounted", null, 7, null, null, null, null, "sdfs0"),
                    0,
                    List.of(),
                    new StatusReport.Space(null, null, null, 0, 0, 0),
                    List.of(),
                    Map.of(),
                    Map.of(),
                    null,
                    new StatusReport.Ssd("none", "", 0, 0, 0, null),
                    null,
                    null,
                    new StatusReport.Index(true, false, true, 0, 0),
                    new StatusReport.Errors(0, 0, 0, 0, null, null, null, null, null, null),
                    null);
            try (ControlServer server = serve(socket, report)) {
                assertEquals(List.of("well", "degraded", "damaged").indexOf(health), cli("status"), output.err());
                assertTrue(output.out().startsWith("sdfs0: " + health + "\n"), output.out());
                assertTrue(output.out().contains("for 0 s, by process 7\n"), "no mount point is named");
                assertEquals(ExitCode.OK, run("--list"));
                assertTrue(output.out().matches("sdfs0 +mounted\n"), output.out());
            }
        }
    }

    @Test
    void theSocketMayBeInAnotherFolder() throws IOException {
        Path run = Files.createDirectories(folder.resolve("run"));
        var elsewhere = new CommandOutput(folder);
        elsewhere.set("SDFS_RUN_DIR", run.toString());
        try (ControlServer server = serve(run.resolve("sdfs0.sock"), Map.of("chunks", 3))) {
            assertEquals(ExitCode.OK, run(elsewhere, "sdfs0", "stats"), output.err());
            assertEquals(ExitCode.NOT_MOUNTED, cli("stats"), "the control: without it, it is not found");
        }
    }

    /** As after a restore by sdfs-check, whether the volume is mounted or not. */
    @Test
    void restoredMetadataAreAccepted() throws IOException {
        Path mark = store.resolve("sar/data/" + OtherHistory.NAME);
        Files.createFile(mark);
        assertEquals(ExitCode.OK, cli("metadata-backup", "--accept-restored"), output.err());
        assertFalse(Files.exists(mark));
        assertEquals(ExitCode.OK, cli("metadata-backup", "--accept-restored", "--json"), output.err());
        assertEquals(Map.of("name", "sdfs0", "accepted", false), Json.read(output.out()));
    }

    @Test
    void adviceAboutWhatAScrubFoundNamesNoListOfFiles() throws IOException {
        Map<String, Object> last = Json.values(FakeScrub.found(1, 0, 0));
        last.put("ended", "then");
        try (ControlServer server = serve(socket, Map.of("last", last, "schedule", "off", "next", "", "error", ""))) {
            assertEquals(ExitCode.OK, cli("scrub", "status"), output.err());
            assertTrue(output.out().contains("sdfscli sdfs0 status"), output.out());
            assertFalse(output.out().contains("sdfscli sdfs0 damaged"), output.out());
        }
    }
}
