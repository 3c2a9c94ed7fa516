package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.sdfs.cli.command.CommandOutput;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.RunningDaemon;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;

@Timeout(30)
class DfCommandTest {
    @TempDir
    Path folder;

    @Test
    void theJsonHasTheFiguresOfDf() throws Exception {
        try (var daemon = new RunningDaemon(folder, new FakeMountService())) {
            Map<String, Object> report = daemon.json("df");
            assertEquals(
                    List.of(
                            "name",
                            "mountPoint",
                            "capacityBytes",
                            "usedBytes",
                            "freeBytes",
                            "availableBytes",
                            "usePercent",
                            "deviceFreeBytes",
                            "storedBytes",
                            "garbageBytes",
                            "reclaimableBytes",
                            "reservedBytes",
                            "rawUsedBytes",
                            "missingBytes"),
                    List.copyOf(report.keySet()));
            assertEquals(4000, report.get("usedBytes"));
            assertEquals(6000, report.get("freeBytes"));
            assertEquals(3000, report.get("availableBytes"));
            // 4000 of 7000, rounded up.
            assertEquals(58, report.get("usePercent"));
            assertEquals(500, report.get("garbageBytes"));
            assertEquals(300, report.get("reclaimableBytes"));
            assertEquals(200, report.get("reservedBytes"));
            assertEquals(0, report.get("missingBytes"), "the volume is in folders");
        }
    }

    @Test
    void theTextNamesTheLimit() throws Exception {
        try (var daemon = new RunningDaemon(folder, new FakeMountService())) {
            assertEquals(0, daemon.cli("df"), daemon.err());
            daemon.shows("limited by the disk");
            daemon.shows("58 %");
            daemon.shows("sdfscli pool0 gc returns it");
        }
    }

    @Test
    void aVolumeThatIsNotMountedHasNoFigures() throws Exception {
        var output = new CommandOutput(folder);
        try (var daemon = new RunningDaemon(folder, new FakeMountService())) {
            assertEquals(0, daemon.cli("df"));
        }
        assertEquals(
                ExitCode.NOT_MOUNTED,
                CommandRunner.run(new SdfsCli(output.environment()), output.environment(), "pool0", "df"));
        assertTrue(output.err().contains("is not mounted"), output.err());
    }
}
