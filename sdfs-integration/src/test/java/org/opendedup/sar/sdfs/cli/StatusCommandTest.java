package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import javax.management.Notification;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sdfs.cli.command.CommandOutput;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.RunningDaemon;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.health.RequestFailures.Kind;
import org.opendedup.sar.volume.engine.VolumeCondition;

@Timeout(30)
class StatusCommandTest {
    @TempDir
    Path folder;

    private final FakeMountService service = new FakeMountService();

    static VolumeCondition damaged(VolumeCondition condition) {
        return new VolumeCondition(null, true, null, condition.devices(), 5, 7, 2, 0, 0, false, condition.index());
    }

    @Test
    void aVolumeThatIsWellIsOneScreenAndExitStatus0() throws Exception {
        try (var daemon = new RunningDaemon(folder, service)) {
            assertEquals(0, daemon.cli("status"), daemon.err());
            assertTrue(daemon.out().startsWith("pool0: well\n"), daemon.out());
            assertTrue(daemon.out().lines().count() <= 24, daemon.out());
            assertTrue(daemon.out().lines().allMatch(line -> line.length() <= 100 || line.contains("/")), daemon.out());
        }
    }

    @Test
    void withoutACommandItIsShortAndSaysWhatToDoNext() throws Exception {
        try (var daemon = new RunningDaemon(folder, service)) {
            assertEquals(0, daemon.cli(), daemon.err());
            assertTrue(
                    daemon.out()
                            .matches("pool0: well\n" + "  mounted    on " + daemon.mountPoint() + " for .*\n"
                                    + "  space      files of .* are stored in 1000 B; .* more can be written\n"
                                    + "  next       sdfscli pool0 status says more, .*\n"),
                    daemon.out());
            service.condition = damaged(service.condition);
            assertEquals(2, daemon.cli());
            daemon.shows("pool0: damaged\n", "  DAMAGED    5 chunks", "    to do    ", "  sdfscli pool0 damaged");
            assertTrue(daemon.out().lines().count() <= 10, daemon.out());
        }
    }

    @Test
    void readOnlyAfterAFailedWriteIsExitStatus1WithTheCommand() throws Exception {
        try (var daemon = new RunningDaemon(folder, service)) {
            service.stopped = "Input/output error";
            assertEquals(1, daemon.cli());
            assertTrue(daemon.out().startsWith("pool0: degraded\n"), daemon.out());
            daemon.shows("  sdfscli pool0 resume\n");
            assertEquals(0, daemon.cli("resume"), daemon.err());
            assertEquals(0, daemon.cli(), daemon.out());
        }
    }

    @Test
    void damageIsExitStatus2AndItsJsonHasTheSameKeysAlways() throws Exception {
        try (var daemon = new RunningDaemon(folder, service)) {
            assertEquals(0, daemon.cli("--json"), daemon.err());
            List<String> keys = List.copyOf(Json.read(daemon.out()).keySet());
            assertEquals(
                    List.of(
                            "name",
                            "health",
                            "state",
                            "mountPoint",
                            "pid",
                            "uptimeSeconds",
                            "findings",
                            "space",
                            "devices",
                            "collection",
                            "scrub",
                            "snapshots",
                            "ssd",
                            "fastTier",
                            "index",
                            "errors",
                            "logFile"),
                    keys);
            service.condition = damaged(service.condition);
            service.failures.note(Kind.READ, new IOException("bad"));
            assertEquals(2, daemon.cli("status", "--json"), daemon.err());
            Map<String, Object> report = Json.read(daemon.out());
            assertEquals(keys, List.copyOf(report.keySet()));
            assertEquals("damaged", report.get("health"));
            assertEquals(
                    List.of(
                            "damagedChunks",
                            "healedChunks",
                            "damagedFrames",
                            "missingContainers",
                            "failedReads",
                            "failedWrites",
                            "failedSyncs",
                            "refusedForSpace",
                            "loggedWarnings",
                            "loggedErrors"),
                    List.copyOf(Json.object(report, "errors").keySet()));
            assertEquals(5, Json.number(Json.object(report, "errors"), "damagedChunks"));
            assertEquals(7, Json.number(Json.object(report, "errors"), "healedChunks"));
            assertEquals(1, Json.number(Json.object(report, "errors"), "failedReads"));
            Map<String, Object> finding = Json.objects(report, "findings").get(0);
            assertEquals(List.of("id", "severity", "what", "remedy", "command"), List.copyOf(finding.keySet()));
            assertTrue(String.valueOf(finding.get("command")).startsWith("sdfscli pool0 damaged; "), finding::toString);
            Map<String, Object> stats;
            do {
                // The figures are those of a sample, which serves for a while.
                assertEquals(0, daemon.cli("stats", "--json"));
                stats = Json.read(daemon.out());
            } while (stats.get("health").equals("well"));
            Map<String, Object> figures = stats;
            Json.object(report, "errors").forEach((key, value) -> {
                if (!key.startsWith("logged")) {
                    assertEquals(value, figures.get(key), key);
                }
            });
            assertEquals("damaged", figures.get("health"));
        }
    }

    @Test
    void jmxShowsTheHealthAndNotifiesOfItsChanges() throws Exception {
        var server = ManagementFactory.getPlatformMBeanServer();
        var name = new ObjectName("org.opendedup.sar:type=Volume,volume=pool0");
        try (var daemon = new RunningDaemon(folder, service)) {
            var heard = new LinkedBlockingQueue<Notification>();
            server.addNotificationListener(name, (notification, handback) -> heard.add(notification), null, null);
            assertEquals("well", server.getAttribute(name, "Health"));
            service.condition = damaged(service.condition);
            assertEquals(2, daemon.cli("status"), daemon.out());
            Notification told = heard.take();
            assertEquals("damaged", told.getUserData());
            assertEquals("org.opendedup.sar.volume.health", told.getType());
            assertTrue(told.getMessage().startsWith("damaged: 5 chunks"), told.getMessage());
            while (server.getAttribute(name, "Health").equals("well")) {
                Thread.sleep(1);
            }
            assertEquals("damaged", server.getAttribute(name, "Health"));
            assertEquals(1, ((String[]) server.getAttribute(name, "Findings")).length);
            assertEquals(5L, server.getAttribute(name, "DamagedChunks"));
        }
    }

    @Test
    void aVolumeThatIsNotMountedTellsItsLastEnd() throws Exception {
        try (var daemon = new RunningDaemon(folder, service)) {
            assertEquals(0, daemon.cli());
        }
        var output = new CommandOutput(folder);
        assertEquals(
                ExitCode.NOT_MOUNTED,
                CommandRunner.run(new SdfsCli(output.environment()), output.environment(), "pool0"));
        assertEquals(
                "pool0: not mounted\n"
                        + "  to do      Mount it to learn whether it is well: mount.sdfs pool0 MOUNTPOINT\n",
                output.out());
        Files.writeString(folder.resolve("base/run/pool0.session"), "{\"pid\":5,\"at\":\"2026-01-01T00:00:00Z\"}");
        output = new CommandOutput(folder);
        assertEquals(
                ExitCode.NOT_MOUNTED,
                CommandRunner.run(new SdfsCli(output.environment()), output.environment(), "pool0", "--json"));
        Map<String, Object> report = Json.read(output.out());
        assertEquals("unknown", report.get("health"));
        assertEquals("not mounted", report.get("state"));
        assertTrue(String.valueOf(report.get("lastEnd")).contains("by process 5"), report::toString);
        // A disk that refuses writes refuses the record, too.
        Files.writeString(folder.resolve("base/run/pool0.session"), "");
        output = new CommandOutput(folder);
        CommandRunner.run(new SdfsCli(output.environment()), output.environment(), "pool0");
        assertTrue(output.out().contains("not recorded completely"), output.out());
    }
}
