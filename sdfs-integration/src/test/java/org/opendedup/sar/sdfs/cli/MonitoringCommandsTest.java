package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sdfs.cli.command.RunningDaemon;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.metrics.PrometheusSamples;

/** {@code stats --prometheus} and {@code audit} of a daemon. */
@Timeout(60)
class MonitoringCommandsTest {
    @TempDir
    Path folder;

    private final FakeMountService service = new FakeMountService();

    @Test
    void figuresForPrometheusAreThoseOfStats() throws Exception {
        try (var daemon = new RunningDaemon(folder, service)) {
            Map<String, Object> stats = daemon.json("stats");
            assertEquals(0, daemon.cli("stats", "--prometheus"), daemon.err());
            PrometheusSamples samples = PrometheusSamples.parse(daemon.out());
            assertEquals(Json.number(stats, "storedBytes"), samples.value("sdfs_stored_bytes", ""));
            assertEquals(Json.number(stats, "writtenBytes"), samples.value("sdfs_written_bytes_total", ""));
            assertEquals(Json.decimal(stats, "dedupRatio"), samples.value("sdfs_dedup_ratio", ""));
            assertEquals(1, samples.value("sdfs_health", "health=\"well\""));
            assertEquals(0, samples.value("sdfs_findings", ""));
            service.stopped = "Input/output error";
            assertEquals(0, daemon.cli("stats", "--prometheus"), daemon.err());
            assertEquals(1, PrometheusSamples.parse(daemon.out()).value("sdfs_finding", "id=\"read-only\""));
            assertEquals(64, daemon.cli("stats", "--prometheus", "--json"));
        }
    }

    @Test
    void whoChangedSomethingIsInTheAuditLog() throws Exception {
        try (var daemon = new RunningDaemon(folder, service)) {
            assertEquals(0, daemon.cli("status"));
            assertEquals(0, daemon.cli("gc", "status"));
            assertEquals(0, daemon.cli("gc", "set", "--paused=true"), daemon.err());
            assertEquals(1, daemon.cli("sar", "detach"));
            assertEquals(0, daemon.cli("unmount"), daemon.err());
            List<Map<String, Object>> lines = Json.objects(daemon.json("audit"), "lines");
            assertEquals(
                    List.of("mounted", "gc", "sar", "unmount", "unmounted"),
                    // The volume is closed before the command is answered.
                    Stream.concat(
                                    lines.stream().limit(3).map(line -> String.valueOf(line.get("what"))),
                                    lines.stream()
                                            .skip(3)
                                            .map(line -> String.valueOf(line.get("what")))
                                            .sorted())
                            .toList(),
                    lines::toString);
            Map<String, Object> change = lines.get(1);
            assertEquals(System.getProperty("user.name"), change.get("user"));
            assertEquals(ProcessHandle.current().pid(), Json.number(change, "pid"));
            assertTrue(String.valueOf(change.get("program")).endsWith("java"), change::toString);
            assertEquals("set", Json.object(change, "arguments").get("action"));
            assertEquals("done", change.get("result"));
            assertTrue(String.valueOf(lines.get(2).get("result")).startsWith("refused: "), lines::toString);
            assertEquals(0, daemon.cli("audit", "--last=1"));
            assertEquals(1, daemon.out().lines().count(), daemon.out());
            assertEquals(64, daemon.cli("audit", "--last=0"));
        }
        Path log = folder.resolve("base/log/pool0.audit");
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(log)));
        assertFalse(Files.readString(log).contains("status"));
    }
}
