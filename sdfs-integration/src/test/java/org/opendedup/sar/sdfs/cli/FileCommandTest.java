package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.RunningDaemon;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;

@Timeout(30)
class FileCommandTest {
    @TempDir
    Path folder;

    @Test
    void theFiguresAreShownForPeople() throws Exception {
        try (var daemon = new RunningDaemon(folder, new FakeMountService())) {
            assertEquals(0, daemon.cli("file", "vm/disk.img"), daemon.err());
            for (String shown : List.of(
                    "vm/disk.img:",
                    "100 MiB",
                    "12800 chunks",
                    "25 %",
                    "80 % of them",
                    "1.25 MiB",
                    "120 disk requests")) {
                assertTrue(daemon.out().contains(shown), () -> shown + " is not in\n" + daemon.out());
            }
        }
    }

    @Test
    void theJsonHasStableKeys() throws Exception {
        try (var daemon = new RunningDaemon(folder, new FakeMountService())) {
            Path inMount = daemon.mountPoint().resolve("vm/disk.img");
            Map<String, Object> report = daemon.json("file", inMount.toString());
            assertEquals(
                    List.of(
                            "path",
                            "bytes",
                            "chunks",
                            "uniqueBytes",
                            "storedBytes",
                            "containers",
                            "meanUse",
                            "sparseContainers",
                            "sparseShare",
                            "containerReads",
                            "speedFactor",
                            "diskRequests",
                            "diskBytes",
                            "diskSeconds",
                            "restoreBytesPerSecond"),
                    List.copyOf(report.keySet()));
            assertEquals("vm/disk.img", report.get("path"));
            assertEquals(1.25, report.get("speedFactor"));
        }
    }

    @Test
    void aRelativePathBeginsInTheWorkingFolderIfItLeadsIntoTheMount() throws Exception {
        try (var daemon = new RunningDaemon(folder, new FakeMountService())) {
            Path inMount = daemon.mountPoint().resolve("vm/disk.img");
            Path relative = Path.of("").toAbsolutePath().relativize(inMount);
            assertEquals("vm/disk.img", daemon.json("file", relative.toString()).get("path"));
            // The control: one that leads elsewhere begins at the volume's root.
            assertEquals("vm/disk.img", daemon.json("file", "vm/disk.img").get("path"));
        }
    }

    @Test
    void whatIsNoFileOfTheVolumeIsNamed() throws Exception {
        try (var daemon = new RunningDaemon(folder, new FakeMountService())) {
            assertEquals(ExitCode.FAILED, daemon.cli("file", "nothing"));
            assertTrue(daemon.err().contains("nothing is no file"), daemon.err());
            assertEquals(ExitCode.FAILED, daemon.cli("file", "/etc/passwd"));
            assertTrue(daemon.err().contains("does not lie in the volume"), daemon.err());
        }
    }
}
