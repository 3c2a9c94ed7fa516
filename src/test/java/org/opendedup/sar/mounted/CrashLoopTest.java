package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.disks.Commands;

/** {@code scripts/crash-loop} for a few rounds, and with losses that it must find. */
class CrashLoopTest {
    @TempDir
    Path folder;

    @Test
    void threeKillsLoseNothing() throws IOException {
        Commands.Result result = loop("--rounds", "3");
        assertEquals(0, result.exitCode(), result::output);
        assertTrue(result.output().contains("PASS: 3 rounds"), result::output);
    }

    @ParameterizedTest
    @ValueSource(strings = {"unsynced", "bytes", "names"})
    void controlLossesAreFound(String control) throws IOException {
        Commands.Result result = loop("--rounds", "2", "--control", control);
        assertEquals(1, result.exitCode(), result::output);
        assertTrue(result.output().contains("FAIL: 2 rounds"), result::output);
    }

    @Test
    void twoPowerCutsLoseNothing() throws IOException {
        Commands.Result result = loop("--power-cut", "--rounds", "2");
        assertEquals(0, result.exitCode(), result::output);
        assertTrue(result.output().contains("PASS: 2 rounds"), result::output);
    }

    @Test
    void controlADiskThatDoesNothingAtAFlushIsFound() throws IOException {
        Commands.Result result = loop("--power-cut", "--rounds", "1", "--control", "lying");
        assertEquals(1, result.exitCode(), result::output);
        assertTrue(result.output().contains("FAIL: 1 rounds"), result::output);
    }

    private Commands.Result loop(String... options) throws IOException {
        assumeTrue(Files.exists(Path.of("/dev/fuse")), "needs /dev/fuse");
        assumeTrue(Commands.succeed("id", "-u").strip().equals("0"), "needs root, to mount");
        List<String> command = new ArrayList<>(List.of(
                MountedVolume.projectFolder().resolve("scripts/crash-loop").toString(), "--folder", folder.toString()));
        command.addAll(List.of(options));
        return Commands.run(Map.of(), command);
    }
}
