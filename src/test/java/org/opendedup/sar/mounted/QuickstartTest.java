package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/** scripts/quickstart, with the built program: its results, and that it removes everything. */
@Timeout(300)
class QuickstartTest {
    @TempDir
    Path folder;

    private Path home;
    private Path source;

    @BeforeEach
    void makeSource() throws IOException {
        assumeTrue(Files.exists(Path.of("/dev/fuse")), "needs /dev/fuse");
        assumeTrue(Commands.succeed("id", "-u").strip().equals("0"), "needs root, to mount");
        home = folder.resolve("home");
        source = Files.createDirectory(folder.resolve("source"));
        Files.createDirectory(folder.resolve("tmp"));
        Files.write(source.resolve("file"), Bytes.random(1, 8 << 20));
        Files.createLink(source.resolve("link"), source.resolve("file"));
        Files.createSymbolicLink(source.resolve("symbolic"), Path.of("file"));
    }

    /** Runs it in its own session, and {@code meanwhile} when a path below its folder exists; $q is its process. */
    private Commands.Result quickstart(String path, String meanwhile) throws IOException {
        String script = "setsid scripts/quickstart --built " + source + " & q=$!;"
                + " while kill -0 $q 2>/dev/null && [ ! -e " + home.resolve(path) + " ]; do sleep 0.02; done;"
                + meanwhile + "; wait $q";
        return Commands.run(
                Map.of(
                        "SDFS_QUICKSTART_DIR",
                        home.toString(),
                        "TMPDIR",
                        folder.resolve("tmp").toString()),
                List.of("bash", "-c", "cd " + Commands.projectFolder() + "; " + script));
    }

    private void assertNothingLeft() throws IOException {
        assertFalse(Commands.succeed("cat", "/proc/self/mountinfo").contains(home.toString()));
        try (var left = Files.list(folder.resolve("tmp"))) {
            assertEquals(
                    List.of(),
                    left.filter(path -> path.getFileName().toString().startsWith("tmp."))
                            .toList());
        }
    }

    /** Changes of the source itself do not affect the copy. */
    @Test
    void passesAlsoWhenTheSourceChanges() throws IOException {
        Commands.Result done = quickstart("mnt/first", "echo more >>" + source.resolve("file"));
        assertEquals(0, done.exitCode(), done::output);
        assertTrue(done.output().contains("PASS: every byte"), done::output);
        assertFalse(Files.exists(home));
        assertNothingLeft();
    }

    /** The control: a difference is detected. The first copy is complete when the second begins. */
    @Test
    void failsWhenWhatWasCopiedIsNotWhatIsThere() throws IOException {
        Commands.Result done = quickstart("mnt/second", "echo more >>" + home.resolve("mnt/first/file"));
        assertEquals(1, done.exitCode(), done::output);
        assertTrue(done.output().contains("FAIL while comparing"), done::output);
        assertTrue(Files.readString(home.resolve("failed/differences.txt")).contains("Size differs"), done::output);
        assertTrue(Files.exists(home.resolve("failed/quickstart.log")));
        assertFalse(Files.exists(home.resolve("volume")));
        assertNothingLeft();
    }

    @Test
    void leavesNothingWhenItIsEnded() throws IOException {
        Commands.Result done = quickstart("mnt/second", "kill -TERM $q");
        assertEquals(130, done.exitCode(), done::output);
        assertTrue(done.output().contains("INTERRUPTED while"), done::output);
        assertFalse(Files.exists(home));
        assertNothingLeft();
    }
}
