package org.opendedup.sar.sdfs.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.RunningDaemon;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.volume.diff.Change;
import org.opendedup.sar.volume.diff.Change.Kind;

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
        daemon.shows("4 snapshots; deleting all frees ");
        assertEquals(0, daemon.cli("snapshot", "list", "--json"), daemon.err());
        Map<String, Object> json = Json.read(daemon.out());
        assertEquals(
                odd,
                Json.objects(json, "snapshots").stream()
                        .map(one -> one.get("snapshot"))
                        .toList());
        assertEquals(
                List.of("name", "snapshots", "beingFreed", "freesBytes", "schedule", "next", "keep"),
                List.copyOf(json.keySet()));
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
    void aDryRunSaysWhatNamesAndRangesFreeTogether() throws Exception {
        for (String name : List.of("a", "b", "c", "d", "e")) {
            assertEquals(0, daemon.cli("snapshot", "create", name), daemon.err());
        }
        assertEquals(0, daemon.cli("snapshot", "hold", "c", "--until=2099-01-01"), daemon.err());
        assertEquals(0, daemon.cli("snapshot", "delete", "--dry-run", "e", "b%d", "b"), daemon.err());
        daemon.shows("Would delete b, made ");
        daemon.shows("Held until 2099-01-0");
        daemon.shows("Would delete 3 snapshots; that frees 10.7 KiB");
        assertEquals(0, daemon.cli("snapshot", "delete", "--dry-run", "%", "--json"), daemon.err());
        Map<String, Object> json = Json.read(daemon.out());
        assertEquals(List.of("name", "deleted", "held", "freesBytes"), List.copyOf(json.keySet()));
        assertEquals(12_000, json.get("freesBytes"));
        assertEquals(5, names().size());
        assertEquals(0, daemon.cli("snapshot", "prune", "--all", "--keep-last=4", "--dry-run"), daemon.err());
        daemon.shows("Would delete 1 of 5 snapshots, by the rules last=4; that frees 1000 B");
        for (String wrong : List.of("d%a", "a%x", "x%a", "x")) {
            assertEquals(ExitCode.FAILED, daemon.cli("snapshot", "delete", "--dry-run", "a", wrong), wrong);
        }
        assertEquals(ExitCode.FAILED, daemon.cli("snapshot", "delete", "a", "a%x"));
        assertEquals(5, names().size(), "a range that is wrong deletes nothing");
        assertEquals(ExitCode.FAILED, daemon.cli("snapshot", "delete", "%d"));
        assertTrue(daemon.err().contains("c is held"), daemon.err());
        assertEquals(List.of("c", "e"), names());
    }

    @Test
    void aMountedVolumeIsNotRolledBack() {
        assertEquals(0, daemon.cli("snapshot", "create", "a"), daemon.err());
        for (String option : List.of("--dry-run", "--discard", "--json")) {
            assertEquals(ExitCode.FAILED, daemon.cli("snapshot", "rollback", "a", option), option);
            assertTrue(daemon.err().contains("unmount it first: sdfscli "), daemon.err());
            assertTrue(daemon.err().contains("clone .snapshots/NAME/FOLDER NEW"), daemon.err());
        }
        assertEquals(ExitCode.USAGE, daemon.cli("snapshot", "rollback"), "a name is needed");
        assertEquals(List.of("a"), names());
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

    private static Change change(Kind kind, String path, @Nullable String newPath, int type) {
        boolean isModified = kind == Kind.MODIFIED;
        return new Change(
                kind,
                path.getBytes(ISO_8859_1),
                newPath == null ? null : newPath.getBytes(ISO_8859_1),
                type,
                7,
                isModified,
                isModified,
                kind == Kind.DELETED,
                false);
    }

    @Test
    void whatDiffersIsToldByLinesOrJson() throws Exception {
        assertEquals(0, daemon.cli("snapshot", "create", "a"), daemon.err());
        assertEquals(0, daemon.cli("snapshot", "diff", "a"), daemon.err());
        assertEquals("", daemon.out());
        assertTrue(daemon.err().contains("No path differs between a and now."), daemon.err());
        service.snapshots.changes.addAll(List.of(
                change(Kind.MODIFIED, "/", null, Modes.DIRECTORY),
                change(Kind.ADDED, "/d", null, Modes.DIRECTORY),
                change(Kind.DELETED, "/\u00c3\u00a4\u00ff\n", null, Modes.REGULAR),
                change(Kind.RENAMED, "/o", "/n", Modes.SYMBOLIC_LINK)));
        assertEquals(0, daemon.cli("snapshot", "diff", "a", "a"), daemon.err());
        assertEquals(
                List.of(
                        "M  content,attributes  /",
                        "+                      /d/",
                        "-  link                /ä\\xff\\u000a",
                        "R                      /o -> /n"),
                daemon.out().lines().toList());
        assertTrue(daemon.err().contains("4 paths differ between a and a:"), daemon.err());

        assertEquals(0, daemon.cli("snapshot", "diff", "a", "--json"), daemon.err());
        Map<String, Object> json = Json.read(daemon.out());
        assertEquals(
                List.of("name", "from", "to", "changes", "added", "deleted", "modified", "renamed", "sorted"),
                List.copyOf(json.keySet()));
        List<Map<String, Object>> changes = Json.objects(json, "changes");
        assertEquals(
                List.of("change", "path", "type", "inode", "content", "attributes", "link", "replaced"),
                List.copyOf(changes.get(0).keySet()));
        assertEquals("/ä\ufffd\n", changes.get(2).get("path"));
        assertEquals("L8Ok/wo=", changes.get(2).get("pathBase64"));
        assertEquals("/n", changes.get(3).get("newPath"));

        // More than one reply has.
        Change one = service.snapshots.changes.get(1);
        service.snapshots.changes.addAll(Collections.nCopies(2500, one));
        assertEquals(0, daemon.cli("snapshot", "diff", "a"), daemon.err());
        assertEquals(2504, daemon.out().lines().count());
        assertEquals(0, daemon.cli("snapshot", "diff", "a", "--json"), daemon.err());
        assertEquals(2504, Json.objects(Json.read(daemon.out()), "changes").size());
        assertEquals(ExitCode.FAILED, daemon.cli("snapshot", "diff", "a", "b"));
        assertTrue(daemon.err().contains("there is no snapshot 'b'"), daemon.err());
        assertEquals(ExitCode.USAGE, daemon.cli("snapshot", "diff"));
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
