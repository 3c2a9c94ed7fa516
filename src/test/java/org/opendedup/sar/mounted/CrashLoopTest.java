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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.disks.Commands;

/** {@code scripts/crash-loop} for a round, and with losses that it must find. */
class CrashLoopTest {
    private static final Pattern COUNTS = Pattern.compile("(\\d+) lost, (\\d+) wrong, (\\d+) other findings; seed");

    @TempDir
    Path folder;

    /**
     * With this seed also a daemon that is mounting is killed, and half of the blocks are lost that were not flushed.
     * The volume whose power is cut is encrypted, and that of a day, too.
     */
    @ParameterizedTest
    @ValueSource(strings = {"--quiet", "--power-cut --mkfs-option=--encrypt", "--day=encrypted"})
    void killsAndPowerCutsLoseNothing(String options) throws IOException {
        Matcher counts = loop(0, ("--seed=183 " + options).split(" "));
        assertEquals(List.of(0, 0, 0), List.of(count(counts, 1), count(counts, 2), count(counts, 3)));
    }

    @Test
    void controlSyncsThatAreLeftOutAreFound() throws IOException {
        Matcher counts = loop(1, "--seed=1", "--control=unsynced");
        assertTrue(count(counts, 1) > 0, counts::toString);
    }

    @Test
    void controlAChangedByteARemovedFileAndAnotherSnapshotAreFound() throws IOException {
        Matcher counts = loop(1, "--seed=1", "--control=spoiled");
        assertEquals(List.of(1, 2, 0), List.of(count(counts, 1), count(counts, 2), count(counts, 3)));
    }

    @Test
    void controlOfADayAChangedByteIsFound() throws IOException {
        Matcher counts = loop(1, "--seed=1", "--day=plain", "--control=spoiled");
        assertTrue(count(counts, 1) > 0 && count(counts, 2) > 0, counts::toString);
    }

    /** With this seed the power cut takes all that was not flushed. */
    @Test
    void controlADiskThatDoesNothingAtAFlushIsFound() throws IOException {
        Matcher counts = loop(1, "--seed=9", "--power-cut", "--control=lying");
        assertTrue(count(counts, 1) > 0, counts::toString);
    }

    private static int count(Matcher counts, int number) {
        return Integer.parseInt(counts.group(number));
    }

    /** Returns what the loop counted. */
    private Matcher loop(int exitCode, String... options) throws IOException {
        assumeTrue(Files.exists(Path.of("/dev/fuse")), "needs /dev/fuse");
        assumeTrue(Commands.succeed("id", "-u").strip().equals("0"), "needs root, to mount");
        List<String> command = new ArrayList<>(List.of(
                Commands.projectFolder().resolve("scripts/crash-loop").toString(),
                "--folder=" + folder,
                "--load-seconds=1",
                "--rounds=1"));
        command.addAll(List.of(options));
        Commands.Result result = Commands.run(Map.of("SDFS_JAVA_OPTS", "-XX:TieredStopAtLevel=1"), command);
        assertEquals(exitCode, result.exitCode(), result::output);
        Matcher counts = COUNTS.matcher(result.output());
        assertTrue(counts.find(), result::output);
        return counts;
    }
}
