package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.RunningDaemon;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.report.Json;

/** {@code sdfscli VOLUME snapshot} against a daemon without engine. */
@Timeout(60)
class SnapshotCommandTest {
    private static final ZoneId ZONE = ZoneId.systemDefault();

    @TempDir
    Path folder;

    private final FakeMountService service = new FakeMountService();
    private RunningDaemon daemon;

    @BeforeEach
    void mount() throws Exception {
        daemon = new RunningDaemon(folder, service);
    }

    @AfterEach
    void unmount() throws Exception {
        daemon.close();
    }

    private List<String> names() {
        return service.snapshots.list().stream().map(SnapshotRecord::name).toList();
    }

    @Test
    void namesOfAllKindsAreMadeListedAndDeleted() throws Exception {
        assertEquals(0, daemon.cli("snapshot", "list"), daemon.err());
        daemon.shows("no snapshots");
        daemon.shows("keep      hourly=24,daily=7,weekly=4,monthly=12");
        List<String> odd = List.of("a b", "ä", "line\nbreak", "-");
        for (String name : odd) {
            assertEquals(0, daemon.cli("snapshot", "create", name), daemon.err());
        }
        assertEquals(odd, names());
        assertEquals(0, daemon.cli("snapshot", "list"), daemon.err());
        daemon.shows("line\\u000abreak");
        daemon.shows("4 snapshots\n");
        assertEquals(0, daemon.cli("snapshot", "list", "--json"), daemon.err());
        Map<String, Object> json = Json.read(daemon.out());
        assertEquals(
                odd,
                Json.objects(json, "snapshots").stream()
                        .map(one -> one.get("snapshot"))
                        .toList());
        assertEquals(
                List.of("name", "snapshots", "beingFreed", "schedule", "next", "keep"), List.copyOf(json.keySet()));
        assertEquals(0, daemon.cli("snapshot", "delete", "a b", "line\nbreak"), daemon.err());
        assertEquals(List.of("ä", "-"), names());
    }

    @Test
    void whatIsWrongIsToldAndChangesNothing() {
        assertEquals(ExitCode.USAGE, daemon.cli("snapshot"), daemon.err());
        assertEquals(ExitCode.USAGE, daemon.cli("snapshot", "create", "a", "--hold-until=tomorrow"));
        assertTrue(daemon.err().contains("'tomorrow' is no date; write a day"), daemon.err());
        assertEquals(ExitCode.USAGE, daemon.cli("snapshot", "hold", "a"), "a date is needed");
        assertEquals(ExitCode.USAGE, daemon.cli("snapshot", "delete"), "a name is needed");
        assertEquals(ExitCode.USAGE, daemon.cli("snapshot", "prune", "--keep-daily=0"));
        assertEquals(ExitCode.FAILED, daemon.cli("snapshot", "create", "a", "--hold-until=2001-01-01"));
        assertTrue(daemon.err().contains("that is past"), daemon.err());
        assertEquals(ExitCode.FAILED, daemon.cli("snapshot", "delete", "a"));
        assertTrue(daemon.err().contains("there is no snapshot 'a'"), daemon.err());
        assertEquals(List.of(), names());
    }

    @Test
    void rulesOfTheCommandGoBeforeThoseOfTheVolume() {
        for (String name : List.of("a", "b", "c")) {
            assertEquals(0, daemon.cli("snapshot", "create", name), daemon.err());
        }
        assertEquals(0, daemon.cli("snapshot", "prune", "--all", "--dry-run"), daemon.err());
        daemon.shows(" of 3 snapshots, by the rules hourly=24,daily=7,weekly=4,monthly=12");
        assertEquals(0, daemon.cli("snapshot", "prune", "--all", "--keep-last=2", "--keep-yearly=1"), daemon.err());
        daemon.shows("Deleted 1 of 3 snapshots, by the rules last=2,yearly=1");
        assertEquals(List.of("b", "c"), names());
    }

    @Test
    void aDayIsHeldToItsEndAndATimeUntilThen() {
        assertEquals(LocalDate.of(2027, 2, 1).atStartOfDay(ZONE).toInstant(), SnapshotCommand.time("2027-01-31"));
        assertEquals(
                LocalDateTime.of(2027, 1, 31, 18, 0).atZone(ZONE).toInstant(),
                SnapshotCommand.time("2027-01-31T18:00"));
        assertEquals(Instant.parse("2027-01-31T18:00:00Z"), SnapshotCommand.time("2027-01-31T18:00:00Z"));
        assertEquals(Instant.parse("2027-01-31T16:00:00Z"), SnapshotCommand.time("2027-01-31T18:00:00+02:00"));
        for (String wrong : List.of("", "2027", "2027-02-30", "2027-01-31T25:00", "31.01.2027", "T")) {
            assertThrows(DateTimeException.class, () -> SnapshotCommand.time(wrong), wrong);
        }
    }
}
