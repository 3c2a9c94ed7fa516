package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.sdfs.cli.HealthChanges.Change;
import org.opendedup.sar.sdfs.cli.HealthChanges.State;
import org.opendedup.sar.sdfs.cli.report.Json;

@Timeout(90)
class HealthHookTest {
    private static final Change CHANGE = new Change(
            HealthChanges.WELL,
            new State(
                    "degraded",
                    "mounted",
                    List.of(Map.of(
                            "id", "nearly-full",
                            "severity", "degraded",
                            "what", "a disk is nearly full; \"$(touch HACKED)\"",
                            "remedy", "Free space:",
                            "command", "sdfscli pool0 df"))));

    @TempDir
    Path folder;

    private String run(String command, int seconds) throws Exception {
        return new HealthHook("pool0", command, Duration.ofSeconds(seconds)).run(CHANGE);
    }

    @Test
    void theCommandGetsTheChange() throws Exception {
        Path out = folder.resolve("out");
        String variables = "\"$SDFS_VOLUME|$SDFS_HEALTH_BEFORE|$SDFS_HEALTH|$SDFS_STATE|$SDFS_FINDINGS\"";
        assertEquals("", run("cd " + folder + "; { echo " + variables + "; cat; } > " + out, 60));
        List<String> lines = Files.readAllLines(out);
        assertEquals(
                "pool0|well|degraded|mounted|degraded: a disk is nearly full; \"$(touch HACKED)\"; Free space: sdfscli"
                        + " pool0 df",
                lines.get(0));
        Map<String, Object> report = Json.read(lines.get(1));
        assertEquals("pool0", report.get("volume"));
        assertEquals("well", Json.object(report, "before").get("health"));
        assertEquals("degraded", Json.object(report, "now").get("health"));
        assertEquals(
                "nearly-full",
                Json.objects(Json.object(report, "now"), "findings").get(0).get("id"));
        assertTrue(Files.notExists(folder.resolve("HACKED")), "texts are not run");
    }

    @Test
    void aFailureIsReported() throws Exception {
        assertEquals("ended with exit code 3", run("exit 3", 60));
        assertEquals("", run("true", 60), "a command that reads nothing");
        // Longer than the kernel lets an argument be.
        String wrong = run("#".repeat(200_000), 60);
        assertTrue(wrong.startsWith("could not be started: "), wrong);
    }

    @Test
    void aCommandThatHangsIsEndedWithWhatItStarted() throws Exception {
        Path pids = folder.resolve("pids");
        // The shell ignores the first signal.
        String command = "trap '' TERM; sleep 1000 & echo $! > " + pids + "; echo $$ >> " + pids + "; wait";
        // A shell that got no processor in that time has not written both numbers: the next one has more time.
        for (int seconds = 1; Files.notExists(pids) || Files.readAllLines(pids).size() < 2; seconds *= 3) {
            assertEquals("did not end within " + seconds + " s, and was ended", run(command, seconds));
        }
        for (String pid : Files.readAllLines(pids)) {
            TestWait.until(() -> !isRunning(pid));
        }
    }

    /** A process that nobody has collected yet is a zombie, which does not run. */
    private static boolean isRunning(String pid) {
        try {
            return !Files.readString(Path.of("/proc", pid, "stat"))
                    .replaceFirst(".*\\) ", "")
                    .startsWith("Z");
        } catch (IOException e) {
            return false;
        }
    }
}
