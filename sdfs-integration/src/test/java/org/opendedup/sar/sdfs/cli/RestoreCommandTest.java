package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.check.DamagedFile;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.RunningDaemon;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.files.FakeFileTools;
import org.opendedup.sar.sdfs.cli.report.Json;

/** {@code restore} and {@code defrag}, with a volume that only says that it did it. */
@Timeout(30)
class RestoreCommandTest {
    @TempDir
    Path folder;

    private final FakeFileTools files = new FakeFileTools();

    private RunningDaemon daemon() throws Exception {
        FakeMountService service = new FakeMountService();
        service.files = files;
        Files.createDirectories(folder.resolve("mnt"));
        return new RunningDaemon(folder.toRealPath(), service);
    }

    @Test
    void aRestoreSaysWhatItDid() throws Exception {
        try (RunningDaemon daemon = daemon()) {
            assertEquals(
                    0,
                    daemon.cli("restore", "vm/disk.img", folder.resolve("out").toString()),
                    daemon.err());
            for (String shown : List.of("vm/disk.img is restored", "7 files")) {
                daemon.shows(shown);
            }
            assertEquals(
                    0,
                    daemon.cli("restore", "vm/disk.img", folder.resolve("o\nut").toString()),
                    daemon.err());
            daemon.shows("is restored to " + folder.resolve("o\\u000aut"));
        }
    }

    @Test
    void whatTheDestinationDoesNotTakeIsNamedAndHasAnExitCodeOfItsOwn() throws Exception {
        files.losses = List.of("/srv/a: the owner: Operation not permitted", "/srv/b: the mode: Invalid argument");
        try (RunningDaemon daemon = daemon()) {
            assertEquals(
                    ExitCode.INCOMPLETE,
                    daemon.cli("restore", "vm/disk.img", folder.resolve("out").toString()));
            assertTrue(daemon.err().contains("not restored: " + files.losses.get(0)), daemon.err());
            daemon.shows("2 owners, modes or extended attributes");
        }
    }

    @Test
    void theJsonOfARestoreHasStableKeys() throws Exception {
        try (RunningDaemon daemon = daemon()) {
            assertEquals(
                    0,
                    daemon.cli("restore", "vm/disk.img", folder.resolve("out").toString(), "--json"));
            assertEquals(
                    Set.of(
                            "path",
                            "destination",
                            "state",
                            "cause",
                            "began",
                            "ended",
                            "phase",
                            "entries",
                            "bytes",
                            "bytesDone",
                            "bytesResumed",
                            "damagedPlaces",
                            "damages",
                            "filesMissing",
                            "filesChanging",
                            "attributesLost",
                            "entriesLost",
                            "losses",
                            "seconds"),
                    Json.read(daemon.out()).keySet());
            assertEquals("", daemon.err());
        }
    }

    @Test
    void whatIsMissingIsAFailureAndWhatIsNotStoredIsSaid() throws Exception {
        files.losses = List.of("/srv/a\nb: cannot be made there: File too large");
        files.missing = 1;
        files.notStored = "a disk\nfailed";
        try (RunningDaemon daemon = daemon()) {
            assertEquals(
                    ExitCode.FAILED,
                    daemon.cli("restore", "vm/disk.img", folder.resolve("out").toString()));
            assertTrue(daemon.err().contains("not restored: /srv/a\\u000ab: cannot be made there"), daemon.err());
            assertTrue(daemon.err().contains("is restored as programs read it: a disk\\u000afailed"), daemon.err());
            daemon.shows("1 files or folders are MISSING");
        }
    }

    @Test
    void damageIsNamedAndIsAFailure() throws Exception {
        files.damages = List.of("vm/disk.img: 4096 bytes at offset 12288: a bad checksum");
        try (RunningDaemon daemon = daemon()) {
            assertEquals(
                    ExitCode.FAILED,
                    daemon.cli("restore", "vm/disk.img", folder.resolve("out").toString()));
            assertTrue(daemon.err().contains("damaged: vm/disk.img: 4096 bytes at offset 12288"), daemon.err());
        }
    }

    @Test
    void whatCannotBeRestoredIsNamed() throws Exception {
        try (RunningDaemon daemon = daemon()) {
            assertEquals(
                    ExitCode.FAILED,
                    daemon.cli("restore", "x", folder.resolve("out").toString()));
            assertTrue(daemon.err().contains("x is no file of the volume"), daemon.err());
            assertEquals(
                    ExitCode.FAILED,
                    daemon.cli("restore", "x", daemon.mountPoint().resolve("y").toString()));
            assertTrue(daemon.err().contains("lies in the volume itself"), daemon.err());
            Path none = folder.resolve("none");
            assertEquals(
                    ExitCode.FAILED,
                    daemon.cli("restore", "x", none.resolve("y").toString()));
            assertTrue(daemon.err().contains("make it first: mkdir -p " + none), daemon.err());
            Path metadata = Files.createDirectories(folder.resolve("base/ddb/inside"));
            Path link = Files.createSymbolicLink(folder.resolve("link"), metadata);
            for (Path own : List.of(metadata, link.resolve("y"))) {
                assertEquals(ExitCode.FAILED, daemon.cli("restore", "vm/disk.img", own.toString()));
                assertTrue(daemon.err().contains("which is for the volume's own files"), daemon.err());
            }
            assertEquals(ExitCode.FAILED, daemon.cli("restore", "x", "/"));
            assertTrue(daemon.err().contains("no absolute path of a destination"), daemon.err());
        }
    }

    @Test
    void anInterruptedCommandSaysWhatCameOfIt() {
        assertTrue(JobClient.lastWords("restore", Map.of("state", "stopped", "phase", "restoring"))
                .endsWith("continues it"));
        assertTrue(JobClient.lastWords("restore", Map.of("state", "stopped", "phase", "walking"))
                .endsWith("or says what to remove first"));
        assertTrue(JobClient.lastWords(DamagedCommand.JOB, Map.of("state", "stopped"))
                .endsWith("begins another"));
        assertTrue(JobClient.lastWords("check", Map.of("state", "stopped")).endsWith("begins another"));
        assertTrue(JobClient.lastWords(SendCommand.STREAM, Map.of("state", "stopped"))
                .endsWith("begins another"));
        assertTrue(JobClient.lastWords("restore", Map.of("state", "running")).endsWith("being stopped"));
        assertTrue(JobClient.lastWords("restore", Map.of("state", "done")).endsWith("done already"));
        assertTrue(JobClient.lastWords("restore", Map.of("state", "failed", "error", "no space"))
                .endsWith("failed: no space"));
    }

    @Test
    void aDefragmentationShowsBeforeAndAfter() throws Exception {
        try (RunningDaemon daemon = daemon()) {
            assertEquals(0, daemon.cli("defrag", "vm/disk.img"), daemon.err());
            for (String shown : List.of("before:", "after:", "Stored 5.00 MiB again", "640 chunks from 40")) {
                daemon.shows(shown);
            }
            assertEquals(0, daemon.cli("defrag", "vm/disk.img", "--share=2.5", "--dry-run"), daemon.err());
            daemon.shows("Would store 2.50 MiB");
            assertEquals(0, daemon.cli("defrag", "vm/disk.img", "--json"), daemon.err());
            assertEquals(1.25, Json.object(Json.read(daemon.out()), "after").get("speedFactor"));
            assertEquals(ExitCode.FAILED, daemon.cli("defrag", "nothing"));
            assertEquals(ExitCode.USAGE, daemon.cli("defrag", "vm/disk.img", "--share=101"));
        }
    }

    @Test
    void aCheckPrintsItsFindingsAndFailsOnDefects() throws Exception {
        try (RunningDaemon daemon = daemon()) {
            assertEquals(0, daemon.cli("check"), daemon.err());
            daemon.shows("3 containers checked; no defect was found");
            var file = new DamagedFile(7, List.of("/a"), List.of(new DamagedFile.Range(5, 15)), 10, 3);
            files.findings = List.of(new Finding(
                    Finding.Severity.LOSS,
                    Finding.Kind.MISSING_PACK,
                    "pack 1 is missing",
                    List.of(1L, 2L),
                    List.of(file),
                    "bring it back"));
            assertEquals(ExitCode.DAMAGED, daemon.cli("check"), daemon.err());
            for (String shown : List.of(
                    "LOSS    pack 1 is missing.",
                    "Containers: 1, 2",
                    "Damaged: /a: 10 bytes: 5-14, and 3 more ranges",
                    "To mend it: bring it back",
                    "1 loss and 0 other defects found; 1 damaged file is named above.")) {
                daemon.shows(shown);
            }
            assertEquals(ExitCode.DAMAGED, daemon.cli("check", "--json"), daemon.err());
            assertEquals(false, Json.read(daemon.out()).get("sound"));
        }
    }

    @Test
    void progressIsABarWithRateAndTimeLeft() {
        assertEquals(
                "[###############...............]  50 %, names: 10 of 20, 3 s left",
                JobClient.line(Map.of("step", "names", "stepDone", 10, "stepOf", 20, "stepSeconds", 3.0))
                        .strip());
        assertEquals(
                "[###############...............]  50 %, 1.00 GiB of 2.00 GiB, 107 MB/s, 10 s left",
                JobClient.line(Map.of("bytes", 2L << 30, "bytesDone", 1L << 30, "seconds", 10.0))
                        .strip());
        assertEquals(
                "found 12 files and folders, 1.00 MiB",
                JobClient.line(Map.of("phase", "walking", "entries", 12, "bytes", 1 << 20))
                        .strip());
    }

    @Test
    void everyCommandHasHelpWithExamples() throws Exception {
        try (RunningDaemon daemon = daemon()) {
            for (String command : List.of("file", "defrag", "restore", "check")) {
                assertEquals(0, daemon.cli(command, "--help"));
                daemon.shows("Usage: sdfscli VOLUME " + command);
                daemon.shows("Examples:");
            }
        }
    }
}
