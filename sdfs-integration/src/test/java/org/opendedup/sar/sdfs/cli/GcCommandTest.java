package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.sdfs.cli.command.CommandOutput;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.RunningDaemon;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.collect.FakeCollector;
import org.opendedup.sar.sdfs.config.ConfigDirectory;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;

/** {@code gc} and its commands, with a collector that only says that it did it. */
@Timeout(60)
class GcCommandTest {
    private static final List<String> RESULT = List.of(
            "name",
            "started",
            "state",
            "cause",
            "dryRun",
            "began",
            "ended",
            "seconds",
            "stage",
            "bytesDone",
            "bytes",
            "returnedBytes",
            "arrangement",
            "containers",
            "storedBytes",
            "garbageBytes",
            "victims",
            "victimBytes",
            "recompressVictims",
            "recompressBytes",
            "removed",
            "rewritten",
            "recompressed",
            "incompressible",
            "copiedBytes",
            "recompressSavedBytes",
            "strayBytes",
            "keptContainers",
            "leftBytes",
            "paused");

    @TempDir
    Path folder;

    private final FakeCollector collector = new FakeCollector();
    private RunningDaemon daemon;

    @BeforeEach
    void mount() throws Exception {
        var service = new FakeMountService();
        service.collector = collector;
        daemon = new RunningDaemon(folder, service);
    }

    @AfterEach
    void unmount() throws Exception {
        daemon.close();
    }

    private Map<String, Object> awaitLast() throws Exception {
        Map<String, Object> last = Json.object(daemon.json("gc", "status"), "last");
        while (last.isEmpty()) {
            last = Json.object(daemon.json("gc", "status"), "last");
        }
        return last;
    }

    /** Waits until a collection that does not end has got as far as it gets. */
    private void awaitProgress() {
        TestWait.until(() -> daemon.cli("gc", "status") == 0 && daemon.out().contains("50.0 MiB of 100 MiB"));
    }

    @Test
    void aWaitingCollectionSaysWhatItReturned() {
        assertEquals(0, daemon.cli("gc", "--wait"), daemon.err());
        daemon.shows(
                "88.0 MiB returned to the file system in",
                "15 containers removed, 10 rewritten (12.0 MiB)",
                "117 MiB of garbage are left, 3.0 % of the stored bytes");
        assertFalse(daemon.out().contains("cannot be read"), daemon.out());
        assertFalse(daemon.out().contains("chunks moved"), daemon.out());
        assertEquals(List.of(new CollectionLimits(CollectionLimits.DEFAULT_GARBAGE_SHARE, false)), collector.asked);
    }

    @Test
    void oneThatMayNotRunIsRefusedBeforeItBegins() {
        collector.forbidden = new IOException("the metadata were restored");
        for (String[] command : new String[][] {{"gc"}, {"gc", "--wait"}}) {
            assertEquals(1, daemon.cli(command));
            assertEquals("", daemon.out(), "nothing has begun");
            assertTrue(daemon.err().contains("the metadata were restored"), daemon.err());
        }
        assertEquals(0, daemon.cli("gc", "--dry-run"), daemon.err());
    }

    @Test
    void whatCannotBeReadAndWhatACrashLeftIsNamed() {
        collector.unreadable = 3;
        assertEquals(0, daemon.cli("gc", "--wait"), daemon.err());
        daemon.shows("94.0 MiB returned", "6.00 MiB of it were what a crash", "3 containers are kept");
    }

    @Test
    void theJsonOfAResultHasStableKeys() throws Exception {
        Map<String, Object> result = daemon.json("gc", "--wait", "--arrange=10");
        assertEquals(Set.copyOf(RESULT), result.keySet());
        assertEquals("done", result.get("state"));
        assertEquals("sdfscli", result.get("cause"));
        assertEquals(88 << 20, result.get("returnedBytes"));
        assertEquals("", daemon.err());
        Map<String, Object> dryRun = daemon.json("gc", "--dry-run");
        assertEquals(283 << 20, dryRun.remove("wouldReturnBytes"));
        assertEquals(
                RESULT.stream().filter(key -> !key.equals("arrangement")).collect(Collectors.toSet()), dryRun.keySet());
        assertEquals(6 << 20, Json.object(result, "arrangement").get("movedBytes"));
    }

    @Test
    void aDryRunWaitsAndSaysWhatWouldBeReturned() throws Exception {
        assertEquals(0, daemon.cli("gc", "--dry-run", "--leave=0.5"), daemon.err());
        daemon.shows(
                "Stored: 3.91 GiB in 1000 containers; garbage: 400 MiB, 10.0 %",
                "Would remove or rewrite 25 containers of 100 MiB",
                "Would return about 283 MiB to the file system, and leave 117 MiB");
        assertEquals(List.of(new CollectionLimits(0.005, true)), collector.asked);
        assertEquals(Map.of(), daemon.json("gc", "status").get("last"));
    }

    @Test
    void withoutWaitTheCollectionGoesOnWithoutTheCommand() throws Exception {
        collector.endless = true;
        assertEquals(0, daemon.cli("gc", "--arrange=10"), daemon.err());
        daemon.shows("it runs in the daemon", "sdfscli pool0 gc status", "sdfscli pool0 gc stop");
        assertEquals(true, daemon.json("gc", "status").get("running"));
        awaitProgress();
        assertEquals(0, daemon.cli("gc", "status"), daemon.err());
        daemon.shows(
                "a collection is running, started by sdfscli at ", "50 %, 50.0 MiB of 100 MiB", "30.0 MiB returned");
        collector.endless = false;
        assertEquals("done", awaitLast().get("state"));
        assertEquals(0, daemon.cli("gc", "status"));
        daemon.shows("no collection is running", "started by sdfscli: 6.00 MiB of chunks moved", "88.0 MiB returned");
    }

    @Test
    void statusHasStableKeys() throws Exception {
        Map<String, Object> status = daemon.json("gc", "status");
        assertEquals(
                List.of(
                        "running",
                        "diskFull",
                        "paused",
                        "bytesPerSecond",
                        "recompress",
                        "arrange",
                        "schedule",
                        "next",
                        "current",
                        "last"),
                List.copyOf(status.keySet()));
        assertEquals("0 0 12 ? * SUN", status.get("schedule"));
        assertTrue(String.valueOf(status.get("next")).contains("T12:00:00"), status::toString);
        assertEquals(0, daemon.cli("gc", "status"));
        daemon.shows(
                "no collection is running", "pace      no bound", "0 0 12 ? * SUN; next at ", "none since the volume");
        collector.diskFull = true;
        assertEquals(true, daemon.json("gc", "status").get("diskFull"));
        assertEquals(0, daemon.cli("gc", "status"));
        daemon.shows("started by the volume because a disk is full");
        assertEquals(ExitCode.FAILED, daemon.cli("gc"));
        assertTrue(daemon.err().contains("because a disk is full"), daemon.err());
        assertEquals(ExitCode.FAILED, daemon.cli("gc", "stop"));
        assertTrue(daemon.err().contains("gc set --paused=true"), daemon.err());
    }

    @Test
    void aSecondCommandSaysThatOneIsRunningAndWaitAttachesToIt() throws Exception {
        collector.endless = true;
        assertEquals(0, daemon.cli("gc"), daemon.err());
        assertEquals(0, daemon.cli("gc", "--leave=50"), daemon.err());
        daemon.shows("A collection is running already, started by sdfscli at ");
        assertEquals(false, daemon.json("gc").get("started"));
        assertEquals(ExitCode.FAILED, daemon.cli("gc", "--dry-run"));
        assertTrue(daemon.err().contains("try again when it has ended"), daemon.err());

        var output = new CommandOutput(folder);
        var waiting = new FutureTask<>(() ->
                CommandRunner.run(new SdfsCli(output.environment()), output.environment(), "pool0", "gc", "--wait"));
        new Thread(waiting, "waiting").start();
        while (!output.err().contains("Waiting for its end")) {
            Thread.sleep(5);
        }
        collector.endless = false;
        assertEquals(0, waiting.get());
        assertTrue(output.out().contains("88.0 MiB returned"), output.out());
        assertEquals(1, collector.asked.size());
    }

    @Test
    void nobodyTakesADryRunForACollection() throws Exception {
        collector.endless = true;
        var output = new CommandOutput(folder);
        var dryRun = new FutureTask<>(() ->
                CommandRunner.run(new SdfsCli(output.environment()), output.environment(), "pool0", "gc", "--dry-run"));
        new Thread(dryRun, "dry-run").start();
        while (collector.asked.isEmpty()) {
            Thread.sleep(5);
        }
        assertEquals(ExitCode.FAILED, daemon.cli("gc", "--wait"));
        assertTrue(daemon.err().contains("a dry run is running already"), daemon.err());
        assertEquals(0, daemon.cli("gc", "stop"), daemon.err());
        assertEquals(ExitCode.FAILED, dryRun.get());
        assertTrue(output.err().contains("the dry run was stopped"), output.err());
    }

    @Test
    void stopEndsTheRunningCollection() throws Exception {
        assertEquals(ExitCode.FAILED, daemon.cli("gc", "stop"));
        assertTrue(daemon.err().contains("no collection of garbage is running"), daemon.err());
        collector.endless = true;
        assertEquals(0, daemon.cli("gc"), daemon.err());
        awaitProgress();
        assertEquals(0, daemon.cli("gc", "stop"), daemon.err());
        daemon.shows("is being stopped");
        assertEquals("stopped", awaitLast().get("state"));
        assertEquals(0, daemon.cli("gc", "status"));
        daemon.shows("stopped; 30.0 MiB returned");
    }

    @Test
    void aFailureIsNamedAndIsTheLastResult() throws Exception {
        collector.failure = new IOException("no space for the copies");
        assertEquals(ExitCode.FAILED, daemon.cli("gc", "--wait"));
        assertTrue(daemon.err().contains("the collection failed: no space for the copies"), daemon.err());
        assertEquals(0, daemon.cli("gc", "status"));
        daemon.shows("failed: no space for the copies");
    }

    @Test
    void chunksAreArrangedAsFarAsWanted() throws Exception {
        assertEquals(0, daemon.cli("gc", "--wait", "--arrange=25"), daemon.err());
        daemon.shows(
                "6.00 MiB of chunks moved for the newest 7 files: predicted time to read them 4.3 s, 12.5 s before");
        assertEquals(0, daemon.cli("gc", "--wait"), daemon.err());
        assertFalse(daemon.out().contains("chunks moved"), daemon.out());
        assertEquals(List.of(new ArrangementLimits(0.25, ArrangementLimits.DEFAULT.gain())), collector.askedToArrange);
        assertEquals(0, daemon.cli("gc", "set", "--arrange=true"), daemon.err());
        daemon.shows("arrange: false -> true");
        assertEquals(0, daemon.cli("gc", "--wait", "--arrange=0"), daemon.err());
        assertEquals(1, collector.askedToArrange.size());
        assertEquals(0, daemon.cli("gc", "--wait"), daemon.err());
        assertEquals(2, collector.askedToArrange.size());
        assertEquals(ExitCode.USAGE, daemon.cli("gc", "--arrange=101"));
        assertEquals(ExitCode.USAGE, daemon.cli("gc", "--dry-run", "--arrange=5"));
        assertEquals(4, collector.asked.size());
    }

    @Test
    void thePaceIsChangedOnline() throws Exception {
        assertEquals(0, daemon.cli("gc", "set", "--rate=20.5", "--paused=true"), daemon.err());
        daemon.shows("paused: false -> true", "bytesPerSecond: 0 -> 20500000");
        assertEquals(20_500_000, collector.pace().bytesPerSecond());
        assertTrue(collector.pace().isPaused());
        assertEquals(0, daemon.cli("gc", "status"));
        daemon.shows("paused; at most 20.5 MB/s");
        collector.endless = true;
        assertEquals(0, daemon.cli("gc"));
        daemon.shows("Collections are PAUSED");
        assertEquals(0, daemon.cli("gc", "set", "--paused=true"));
        daemon.shows("Nothing changed");
        Map<String, Object> reply = daemon.json("gc", "set", "--rate=0", "--paused=false");
        assertEquals(
                Map.of("paused", true, "bytesPerSecond", 20_500_000, "recompress", "off", "arrange", false),
                reply.get("before"));
        assertEquals(
                Map.of("paused", false, "bytesPerSecond", 0, "recompress", "off", "arrange", false),
                reply.get("after"));
        assertFalse(collector.pace().isPaused());
    }

    @Test
    void oneCollectionCompressesHarderWhenItIsAsked() {
        assertEquals(0, daemon.cli("gc", "--wait", "--recompress=zstd:9"), daemon.err());
        daemon.shows("70.0 MiB of it were saved by compressing harder; 180 containers were rewritten only for that");
        assertEquals(0, daemon.cli("gc", "--dry-run", "--recompress=zstd:3"), daemon.err());
        daemon.shows("Would also compress 200 containers of 800 MiB harder");
        assertEquals(0, daemon.cli("gc", "--wait"), daemon.err());
        assertFalse(daemon.out().contains("harder"), daemon.out());
        double share = CollectionLimits.DEFAULT_GARBAGE_SHARE;
        assertEquals(
                List.of(
                        new CollectionLimits(share, false, 9, true),
                        new CollectionLimits(share, true, 3, true),
                        new CollectionLimits(share, false)),
                collector.asked);
    }

    @Test
    void theLevelOfLaterCollectionsIsSetAndKept() throws Exception {
        assertEquals(0, daemon.cli("gc", "set", "--recompress=zstd:9"), daemon.err());
        daemon.shows("recompress: off -> zstd:9");
        assertEquals(0, daemon.cli("gc", "status"), daemon.err());
        daemon.shows("compress  zstd:9");
        assertEquals(0, daemon.cli("gc", "--wait"), daemon.err());
        assertEquals(0, daemon.cli("gc", "--wait", "--recompress=off"), daemon.err());
        double share = CollectionLimits.DEFAULT_GARBAGE_SHARE;
        assertEquals(
                List.of(new CollectionLimits(share, false, 9, false), new CollectionLimits(share, false, 0, true)),
                collector.asked);
        VolumeDefinition stored = VolumeFile.read(new ConfigDirectory(folder).fileOf("pool0"));
        assertEquals("zstd:9", stored.recompress().toString());
    }

    /** The volume of this test writes with zstd:1. */
    @ParameterizedTest
    @ValueSource(strings = {"gc --recompress=zstd:1", "gc set --recompress=zstd:1"})
    void aLevelThatIsNotHarderIsRefused(String arguments) {
        assertEquals(ExitCode.FAILED, daemon.cli(arguments.split(" ")));
        assertTrue(daemon.err().contains("compressed with zstd:1 already; use a higher level"), daemon.err());
        assertEquals(List.of(), collector.asked);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "gc --leave=101 | from 0 to 100",
                "gc --leave=NaN | from 0 to 100",
                "gc --wait status | --wait is an option of 'gc' without a command",
                "gc --dry-run stop | --dry-run is an option of 'gc' without a command",
                "gc --recompress=zstd:20 | use off, or zstd:1 to zstd:19",
                "gc --recompress=lz4 | use off, or zstd:1 to zstd:19",
                "gc --recompress=zstd:9 status | --recompress is an option of 'gc' without a command",
                "gc set --recompress=zstd | use off, or zstd:1 to zstd:19",
                "gc set | name a value to set",
                "gc set --rate=-1 | MB/s, or 0 for no bound",
                "gc set --rate=NaN | MB/s, or 0 for no bound",
                "gc set --rate=0.0000001 | MB/s, or 0 for no bound",
                "gc set --rate=1000001 | MB/s, or 0 for no bound",
                "gc statsu | not known, or one too many: statsu"
            })
    void whatIsNotAllowedIsRefusedAndNothingStarts(String arguments, String why) {
        assertEquals(ExitCode.USAGE, daemon.cli(arguments.split(" ")));
        assertTrue(daemon.err().contains(why), daemon.err());
        assertEquals(List.of(), collector.asked);
    }

    @Test
    void theProgressLineEndsWithTheBytesReturned() {
        var report = Map.<String, Object>of(
                "bytes", 2L << 30, "bytesDone", 1L << 30, "seconds", 10.0, "returnedBytes", 5L << 20);
        assertEquals(
                "[###############...............]  50 %, 1.00 GiB of 2.00 GiB, 107 MB/s, 10 s left, 5.00 MiB returned",
                JobClient.line(report).strip());
        var paused = new HashMap<>(report);
        paused.put("paused", true);
        assertTrue(
                JobClient.line(paused).contains("107 MB/s, paused, 5.00 MiB returned"), () -> JobClient.line(paused));
        // While it ran, more containers got garbage.
        var more = new HashMap<>(report);
        more.put("bytesDone", 3L << 30);
        assertTrue(JobClient.line(more).contains("MB/s, 0 s left, "), () -> JobClient.line(more));
    }

    @Test
    void aVolumeThatIsNotMountedCollectsNothing() throws Exception {
        daemon.close();
        for (String[] arguments : new String[][] {{"gc"}, {"gc", "status"}}) {
            assertEquals(ExitCode.NOT_MOUNTED, daemon.cli(arguments));
            assertTrue(daemon.err().contains("is not mounted"), daemon.err());
        }
    }
}
