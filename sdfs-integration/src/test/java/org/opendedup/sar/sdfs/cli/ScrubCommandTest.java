package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.RunningDaemon;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.scrub.FakeScrub;

/** {@code sdfscli VOLUME scrub} against a daemon without engine. */
@Timeout(60)
class ScrubCommandTest {
    private static final List<String> TOTALS = List.of(
            "containers",
            "chunks",
            "damagedFrames",
            "damagedContainers",
            "contradictions",
            "references",
            "ssd",
            "index",
            "clean");

    @TempDir
    Path folder;

    private final FakeScrub scrub = new FakeScrub();
    private final FakeMountService service = new FakeMountService();
    private RunningDaemon daemon;

    @BeforeEach
    void mount() throws Exception {
        service.scrub = scrub;
        daemon = new RunningDaemon(folder, service);
    }

    @AfterEach
    void unmount() throws Exception {
        daemon.close();
    }

    /** Waits until a scrub is at the container where it waits. */
    private void awaitProgress() throws IOException {
        Map<String, Object> current = Map.of();
        while (current.isEmpty() || Json.number(current, "containers") < scrub.waitsAt) {
            current = Json.object(daemon.json("scrub", "status"), "current");
        }
    }

    private void awaitEnd() throws IOException {
        while (Boolean.TRUE.equals(daemon.json("scrub", "status").get("running"))) {
            Thread.onSpinWait();
        }
    }

    @Test
    void aWaitingScrubSaysWhatItVerifiedAndFound() {
        assertEquals(0, daemon.cli("scrub", "start", "--wait"), daemon.err());
        daemon.shows("100 MiB in 100 containers, 400 chunks verified; found nothing");
        assertFalse(daemon.out().contains("DAMAGE"), daemon.out());

        scrub.finds = FakeScrub.found(3, 2, 1);
        assertEquals(ExitCode.DAMAGED, daemon.cli("scrub", "start", "--wait"), daemon.err());
        daemon.shows("DAMAGE FOUND. 100 MiB in", "found 3 damaged frames, 2 containers", "sdfscli pool0 damaged");
        assertEquals(ExitCode.DAMAGED, daemon.cli("scrub", "start", "--wait", "--json"), "also as JSON");
        assertEquals(0, daemon.cli("scrub", "status"), daemon.err());
        daemon.shows("no scrub is running", "found 3 damaged frames");
        assertEquals(1, daemon.cli("status"), daemon.out());
        daemon.shows("the last scrub found 2 containers", "scrub      last ");
    }

    /**
     * A pass of healing takes lost chunks out of their container: scrubs do not meet them, and files still lack them.
     */
    @Test
    void aScrubThatFindsNothingSaysWhatIsKnownToBeDamaged() throws Exception {
        service.condition = StatusCommandTest.damaged(service.condition);
        assertEquals(ExitCode.DAMAGED, daemon.cli("scrub", "start", "--wait"), daemon.err());
        daemon.shows("found nothing", "STILL DAMAGED: 5 chunks of files", "sdfscli pool0 damaged");
        assertFalse(daemon.out().contains("DAMAGE FOUND"), daemon.out());
        assertEquals(ExitCode.DAMAGED, daemon.cli("scrub", "start", "--wait", "--json"), daemon.err());
        daemon.shows("\"damagedChunks\" : 5");
    }

    @Test
    void whatItFoundOnTheSsdIsANoteAndWrongEntriesOfTheIndexAreNot() {
        var ssd = new ScrubTotals.Ssd(50, 7 << 20, 2, 1, true);
        var noted = new ScrubTotals.Index(4096, 0, 64, 300, 9, true);
        scrub.finds = new ScrubTotals(0, 0, 0, 0, 0, 0, ScrubTotals.References.NONE, ssd, noted);
        assertEquals(0, daemon.cli("scrub", "start", "--wait"), daemon.err());
        daemon.shows(
                "100 MiB in 100 containers, 400 chunks; 7.00 MiB in 50 copies on the SSD; samples of the index: 4096"
                        + " entries, 300 chunks verified; found nothing",
                "Note: 2 wrong copies on the SSD were dropped",
                "Note: 1 entries of the Map table led nowhere",
                "Note: 64 entries of the index named no stored chunk",
                "Note: 9 of 300 stored chunks are not in the index",
                "Note: the copies on the SSD are not verified to the end",
                "Note: the samples of the fingerprint index are not complete");

        scrub.finds = ScrubTotals.NONE.with(ssd).with(new ScrubTotals.Index(4096, 1, 0, 300, 0, false));
        assertEquals(ExitCode.DAMAGED, daemon.cli("scrub", "start", "--wait"), daemon.err());
        daemon.shows("DAMAGE FOUND", "1 entries of the index that named other content");
        assertEquals(1, daemon.cli("status"), daemon.out());
        daemon.shows(
                "of 4096 sampled entries of the fingerprint index", " unmount && find ", "hdb -mindepth 1 -delete");
    }

    @Test
    void wrongReferencesAreDamage() {
        scrub.finds = ScrubTotals.NONE.with(new ScrubTotals.References(2, 1, true));
        assertEquals(ExitCode.DAMAGED, daemon.cli("scrub", "start", "--wait"), daemon.err());
        daemon.shows(
                "2 chunks that files refer to as other content, 1 other defects of the metadata",
                "Note: not all references of files could be compared");
        assertEquals(1, daemon.cli("status"), daemon.out());
        daemon.shows("the last scrub found 2 chunks that files refer to as other content", "sdfscli pool0 check");
    }

    @Test
    void aRunningScrubIsShownStoppedAndContinued() throws Exception {
        scrub.waitsAt = 40;
        assertEquals(0, daemon.cli("scrub", "start"), daemon.err());
        daemon.shows("A scrub has begun", "scrub status");
        awaitProgress();
        assertEquals(0, daemon.cli("scrub", "start"), daemon.err());
        daemon.shows("A scrub is running already, started by sdfscli");
        assertEquals(0, daemon.cli("scrub", "status"), daemon.err());
        daemon.shows(
                "a scrub is running, started by sdfscli",
                "40 %, 40.0 MiB of 100 MiB",
                "phase     containers",
                "found     nothing",
                "last      none");
        assertEquals(0, daemon.cli("scrub", "stop"), daemon.err());
        awaitEnd();
        assertEquals(0, daemon.cli("scrub", "status"), daemon.err());
        daemon.shows("is stopped; 'scrub start' continues it", "verified  40.0 MiB in 40 containers");
        assertEquals(1, daemon.cli("scrub", "stop"));
        assertTrue(daemon.err().contains("no scrub is running"), daemon.err());

        scrub.waitsAt = -1;
        Map<String, Object> result = daemon.json("scrub", "start", "--wait");
        assertEquals(true, result.get("continued"));
        assertEquals(40 << 20, Json.number(result, "bytesResumed"));
        assertEquals("done", result.get("state"));
        assertEquals(Map.of(), daemon.json("scrub", "status").get("stopped"));
    }

    @Test
    void theKeysAreStable() throws Exception {
        var run = new ArrayList<>(List.of(
                "name",
                "started",
                "state",
                "phase",
                "cause",
                "continued",
                "began",
                "ended",
                "seconds",
                "bytesDone",
                "bytesResumed",
                "bytes"));
        run.addAll(TOTALS);
        run.addAll(List.of("paused", "damagedChunks"));
        assertEquals(Set.copyOf(run), daemon.json("scrub", "start", "--wait").keySet());
        Map<String, Object> status = daemon.json("scrub", "status");
        assertEquals(
                List.of(
                        "running",
                        "paused",
                        "bytesPerSecond",
                        "schedule",
                        "next",
                        "current",
                        "stopped",
                        "last",
                        "error"),
                List.copyOf(status.keySet()));
        var last = new ArrayList<>(List.of("began", "ended", "bytesDone"));
        last.addAll(TOTALS);
        assertEquals(Set.copyOf(last), Json.object(status, "last").keySet());
        assertEquals(
                List.of("copies", "bytes", "wrong", "leadingNowhere", "passedOver"),
                List.copyOf(Json.object(Json.object(status, "last"), "ssd").keySet()));
        assertEquals(
                List.of("entries", "wrong", "stale", "chunks", "notIndexed", "passedOver"),
                List.copyOf(Json.object(Json.object(status, "last"), "index").keySet()));
        assertEquals("0 0 3 ? * SUN#1", status.get("schedule"));
        assertTrue(String.valueOf(status.get("next")).contains("T03:00:00"), status::toString);
    }

    @Test
    void thePaceIsSetAndShown() throws Exception {
        assertEquals(0, daemon.cli("scrub", "set", "--rate=50", "--paused=true"), daemon.err());
        daemon.shows("paused: false -> true", "bytesPerSecond: 0 -> 50000000");
        assertEquals(0, daemon.cli("scrub", "set", "--rate=50"), daemon.err());
        daemon.shows("Nothing changed");
        assertEquals(50_000_000, scrub.pace().bytesPerSecond());
        assertEquals(0, daemon.cli("scrub", "status"), daemon.err());
        daemon.shows("paused; at most 50 MB/s");
        assertEquals(0, daemon.cli("scrub", "start"), daemon.err());
        daemon.shows("Scrubs are PAUSED");
        // The control: the pace of collections is another.
        assertEquals(0, Json.number(daemon.json("gc", "status"), "bytesPerSecond"));
        assertEquals(ExitCode.USAGE, daemon.cli("scrub", "set"));
        assertEquals(ExitCode.USAGE, daemon.cli("scrub", "set", "--rate=-1"));
        assertTrue(daemon.err().contains("or 0 for no bound"), daemon.err());
        assertEquals(ExitCode.USAGE, daemon.cli("scrub"));
    }

    @Test
    void aFailureIsToldAndStays() throws Exception {
        scrub.failure = new IOException("the metadata cannot be read");
        assertEquals(1, daemon.cli("scrub", "start", "--wait"));
        assertTrue(daemon.err().contains("the scrub failed: the metadata cannot be read"), daemon.err());
        assertEquals(0, daemon.cli("scrub", "status"), daemon.err());
        daemon.shows("failed    the metadata cannot be read");
        assertEquals(1, daemon.cli("status"), daemon.out());
        daemon.shows("the last scrub failed");
    }
}
