package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.RunningDaemon;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.volume.raw.FastTier.FileStatus;
import org.opendedup.sar.volume.raw.FastTier.Place;

@Timeout(30)
class TierCommandTest {
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

    @Test
    void statusShowsTheFastTier() {
        service.tier.inUse();
        assertEquals(0, daemon.cli("tier", "status"), daemon.err());
        daemon.shows(
                "tddfs: new files lie whole",
                "in use, with room for new files",
                "100 MiB",
                "Used           14.0 MiB (14 %)",
                "Raw            10 files",
                "Changed        4 files, 4.00 MiB",
                "3 files, 3.00 MiB: a lost fast tier loses them",
                "1 file",
                "from 85 % of use down to 70 %, the least recently used first",
                "after 60 s without use",
                "5 files stored in chunks, 5.00 MiB, of these 2.00 MiB ahead; 7 files migrated, 7.00 MiB");
        assertFalse(daemon.out().contains("ost:"), daemon.out());
    }

    @Test
    void statusOfAVolumeWithoutOneSaysSo() {
        assertEquals(0, daemon.cli("tier", "status"), daemon.err());
        daemon.shows("The volume has no fast tier for new files");
    }

    @Test
    void statusNamesWhyItIsAbsentAndWhatIsLost() {
        service.tier.inUse();
        service.tier.fast.absent = "no disk";
        service.tier.fast.lostFiles = 3;
        service.tier.lost = List.of("a", "b/c\u001b");
        assertEquals(0, daemon.cli("tier", "status"), daemon.err());
        daemon.shows("ABSENT: no disk", "the bytes of 3 files were only on the fast tier", "  b/c", "and 1 more");
        assertFalse(daemon.out().contains("\u001b"));
    }

    @Test
    void statusSaysThatItHangs() {
        service.tier.inUse();
        service.tier.fast.hanging = "examining files has taken 31 s";
        assertEquals(0, daemon.cli("tier", "status"), daemon.err());
        daemon.shows("HANGING: examining files has taken 31 s; new files are stored in chunks");
    }

    @Test
    void theJsonOfTheStatusHasStableKeys() throws Exception {
        service.tier.inUse();
        Map<String, Object> report = daemon.json("tier", "status");
        List<String> keys = List.of(
                "mode",
                "absent",
                "hanging",
                "rawCapacityBytes",
                "rawUsedBytes",
                "rawFiles",
                "changedFiles",
                "changedBytes",
                "onlyThereFiles",
                "onlyThereBytes",
                "pinnedFiles",
                "rawFilesInUse",
                "roomForNewFiles",
                "highPercent",
                "lowPercent",
                "journalSeconds",
                "migrationPolicy",
                "copiedFiles",
                "copiedBytes",
                "aheadFiles",
                "aheadBytes",
                "migratedFiles",
                "migratedBytes",
                "lostFiles",
                "location",
                "lost");
        assertEquals(keys, List.copyOf(report.keySet()));
        Map<String, Object> stats = Json.object(daemon.json("stats"), "fastTier");
        assertEquals(keys.subList(0, 24), List.copyOf(stats.keySet()));
    }

    @Test
    void aLongListOfLostFilesArrivesWhole() throws Exception {
        service.tier.inUse();
        service.tier.lost =
                IntStream.range(0, 1000).mapToObj(i -> "x".repeat(200) + i).toList();
        service.tier.fast.lostFiles = 1000;
        assertEquals(0, daemon.cli("tier", "status", "--json"), daemon.err());
        assertEquals(service.tier.lost, Json.read(daemon.out()).get("lost"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "FAST_TIER | false | false | whole on the fast tier only, 5.00 MiB, last used 2023 | use is above 85 %; stored",
                "BOTH | false | false | whole on the fast tier, and in chunks as well | the use is above 85 %",
                "FAST_TIER | true | false | whole on the fast tier only | not migrated while it is in use",
                "FAST_TIER | true | true | whole on the fast tier only | not migrated, because it is pinned",
                "ABSENT | false | false | on the fast tier, which cannot be used now | vm/disk.img",
                "LOST | false | false | LOST: its bytes were only on the fast tier | vm/disk.img",
            })
    void explainSaysWhereAFileIsAndWhenItIsMigrated(
            Place place, boolean inUse, boolean pinned, String where, String why) {
        service.tier.inUse();
        service.tier.file = new FileStatus(place, Placement.TDDFS, 5 << 20, 1_700_000_000_000L, inUse, pinned, 0);
        assertEquals(0, daemon.cli("tier", "explain", "vm/disk.img"), daemon.err());
        daemon.shows("vm/disk.img: " + where, why);
    }

    @Test
    void explainTakesSeveralPathsAndFolders() throws Exception {
        service.tier.inUse();
        service.tier.file = new FileStatus(Place.CHUNKS, Placement.TDDFS, 1000, 0, false, false, 300);
        String inMount = daemon.mountPoint().resolve("vm").toString();
        assertEquals(0, daemon.cli("tier", "explain", inMount, "vm/disk.img"), daemon.err());
        daemon.shows("vm: folder; new files lie whole on the fast tier, and are not migrated (pin)");
        daemon.shows(
                "vm/disk.img: in chunks, deduplicated, but for 300 B that were changed since and are on the fast tier,"
                        + " 1000 B");
        assertEquals(0, daemon.cli("tier", "explain", "vm", "vm/disk.img", "--json"), daemon.err());
        List<Map<String, Object>> files = Json.objects(Json.read(daemon.out()), "files");
        assertEquals(
                List.of("path", "type", "newFiles"), List.copyOf(files.get(0).keySet()));
        assertEquals("chunks", files.get(1).get("place"));
        assertEquals(ExitCode.FAILED, daemon.cli("tier", "explain", "nothing"));
        assertTrue(daemon.err().contains("nothing is no file of the volume"), daemon.err());
    }

    @Test
    void migrateWorksOnEachPathAndAddsTheResults() throws Exception {
        service.tier.report = Map.of("migratedFiles", 2, "migratedBytes", 3 << 20, "inChunksFiles", 1);
        assertEquals(0, daemon.cli("tier", "migrate", "a", "b", "--wait"), daemon.err());
        daemon.shows("Migrated 4 files, 6.00 MiB; 2 in chunks before");
        assertEquals(List.of("migrate a and wait", "migrate b and wait"), service.tier.events);
    }

    @Test
    void migrateNamesFilesInUseAndFailures() throws Exception {
        service.tier.report = Map.of(
                "migratedFiles",
                1,
                "migratedBytes",
                5,
                "inUseFiles",
                3,
                "inUse",
                List.of("x", "y"),
                "failedFiles",
                1,
                "failures",
                List.of("z: Input/output error"),
                "lostFiles",
                0);
        assertEquals(ExitCode.FAILED, daemon.cli("tier", "migrate", "."));
        daemon.shows(
                "Migrated 1 file, 5 B; 3 in use and not migrated; 1 failed",
                "  in use: x",
                "  in use: y",
                "  and 1 more",
                "  failed: z: Input/output error");
        assertEquals(ExitCode.FAILED, daemon.cli("tier", "migrate", ".", "--json"));
        Map<String, Object> json = Json.read(daemon.out());
        assertEquals(List.of("x", "y"), json.get("inUse"));
        assertFalse(json.containsKey("number"));
    }

    @Test
    void aJobThatWasStoppedSaysSoAndEndsTheCommand() {
        assertEquals(ExitCode.FAILED, daemon.cli("tier", "migrate", "stopped", "b"));
        assertTrue(daemon.err().contains("the migration is stopped; the same command continues it"), daemon.err());
        assertEquals(List.of("migrate stopped"), service.tier.events);
    }

    @Test
    void pinUnpinAndReloadWorkOnPaths() {
        service.tier.report = Map.of(
                "rawFiles", 2, "inChunksFiles", 1, "reloadedFiles", 4, "chunkBytes", 1 << 20, "onSsdBytes", 1 << 20);
        assertEquals(0, daemon.cli("tier", "pin", "vm"), daemon.err());
        daemon.shows("Pinned 2 raw files; 1 in chunks, where nothing changes");
        assertEquals(0, daemon.cli("tier", "unpin", "vm"), daemon.err());
        daemon.shows("Unpinned 2 raw files");
        assertEquals(0, daemon.cli("tier", "reload", "vm", "--wait"), daemon.err());
        daemon.shows("Reloaded 4 files, 1.00 MiB: 100 % on the SSD, 0 B copied now; 2 on the fast tier already");
        assertEquals(List.of("pin vm", "unpin vm", "reload vm and wait"), service.tier.events);
    }

    @Test
    void attachSaysWhatIsThereAndWhatIsLost() {
        service.tier.inUse();
        service.tier.fast.absent = "no disk";
        service.tier.fast.lostFiles = 1;
        service.tier.lost = List.of("gone");
        assertEquals(0, daemon.cli("tier", "attach", "--new"), daemon.err());
        daemon.shows("Attached", "the bytes of 1 file were only", "  gone");
        assertEquals(0, daemon.cli("tier", "attach"), daemon.err());
        daemon.shows("In use already");
        assertEquals(List.of("attach new", "attach"), service.tier.events);
    }

    @Test
    void wrongUsageIsToldApart() {
        assertEquals(ExitCode.USAGE, daemon.cli("tier"));
        assertTrue(daemon.err().contains("sdfscli VOLUME tier status"), daemon.err());
        assertEquals(ExitCode.USAGE, daemon.cli("tier", "migrate"));
        assertEquals(ExitCode.FAILED, daemon.cli("tier", "migrate", "/elsewhere"));
        assertTrue(daemon.err().contains("does not lie in the volume"), daemon.err());
    }
}
