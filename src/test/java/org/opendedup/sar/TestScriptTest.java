package org.opendedup.sar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Commands;

/** {@code scripts/test}: what the queue says of tests that pass, fail, end their JVM, hang, or leave something. */
final class TestScriptTest {
    /** Runs the named classes of this file. The arguments are folder, limit for a hang in seconds, and names. */
    private static final String DRIVER = """
            import pathlib, sys
            sys.path.insert(0, "scripts")
            import test_queue
            folder, test_queue.HANG_SECONDS = pathlib.Path(sys.argv[1]), float(sys.argv[2])
            test_queue.LEFTOVER_SECONDS = 0.5
            test_queue.remove_what_runs_when_interrupted()
            entries = [test_queue.Entry("org.opendedup.sar.TestScriptTest$" + name, "src/test") for name in sys.argv[3:]]
            options = ["-XX:TieredStopAtLevel=1", "-Dsar.patience.s=1"]
            results = test_queue.Run(entries, 1, options, folder).run()
            sys.exit(0 if test_queue.print_summary(results, 0) else 1)
            """;

    private static final int NO_HANG = 600;

    @TempDir
    private Path folder;

    static final class Sound {
        @Test
        void passes() {}
    }

    static final class Mixed {
        @Test
        void passes() {}

        @Test
        void fails() {
            fail("on purpose");
        }

        @Test
        void isSkipped() {
            abort("needs a machine of glass");
        }
    }

    static final class EndsItsJvm {
        @Test
        void halts() {
            Runtime.getRuntime().halt(3);
        }
    }

    static final class Hangs {
        @Test
        void waitsForEver() throws InterruptedException {
            System.out.println(System.getProperty("java.io.tmpdir"));
            new CountDownLatch(1).await();
        }
    }

    static final class LeavesAProcess {
        @Test
        void passes() throws IOException {
            Path file = Files.createTempFile("left", "");
            new ProcessBuilder("tail", "-f", file.toString()).start();
        }
    }

    static final class LeavesAThread {
        @Test
        void passes() {
            Thread left = new Thread(LockSupport::park, "straggler");
            left.setDaemon(true);
            left.start();
        }
    }

    @Test
    void soundClassesPassAndAreCounted() throws IOException {
        Commands.Result result = queue(NO_HANG, "Sound");

        assertEquals(0, result.exitCode(), result::output);
        assertEquals("1 passed, 0 failed, 0 skipped", lastLine(result));
    }

    @Test
    void whatIsWrongIsNamedAndTheNextClassesRunTheLongestFirst() throws IOException {
        Files.writeString(folder.resolve("test-seconds"), "7 org.opendedup.sar.TestScriptTest$EndsItsJvm\n");

        Commands.Result result = queue(NO_HANG, "Mixed", "LeavesAProcess", "LeavesAThread", "EndsItsJvm", "Sound");

        String output = result.output();
        assertEquals(1, result.exitCode(), output);
        assertEquals("4 passed, 4 failed, 1 skipped", lastLine(result), output);
        assertTrue(output.contains("[1/5] TestScriptTest$EndsItsJvm"), output);
        assertTrue(output.contains("EndsItsJvm: its JVM ended with exit code 3"), output);
        assertTrue(output.contains("Mixed#fails: org.opentest4j.AssertionFailedError: on purpose"), output);
        assertTrue(output.contains("Skipped 1: needs a machine of glass"), output);
        assertTrue(output.contains("LeavesAThread: left [straggler]"), output);
        String left = output.replaceAll("(?s).*left process (\\d+).*", "$1");
        assertFalse(Files.exists(Path.of("/proc", left, "exe")), output);
    }

    @Test
    void aClassThatHangsIsEndedAndItsThreadsAreKept() throws IOException {
        Commands.Result result = queue(8, "Hangs");

        assertEquals("0 passed, 1 failed, 0 skipped", lastLine(result));
        String log = Files.readString(folder.resolve("test-logs/org.opendedup.sar.TestScriptTest$Hangs.log"));
        assertTrue(log.contains("TestScriptTest$Hangs.waitsForEver"), log);
    }

    @Test
    void anInterruptionRemovesWhatRuns() throws Exception {
        Process queue = new ProcessBuilder(
                        command(NO_HANG, "Hangs").stream().map(Object::toString).toList())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("output").toFile())
                .start();
        Path log = folder.resolve("test-logs/org.opendedup.sar.TestScriptTest$Hangs.log");
        Path work = null;
        while (work == null) {
            assertTrue(queue.isAlive(), () -> "the queue ended");
            Thread.sleep(50);
            work = Files.exists(log)
                    ? Files.readString(log).lines().findFirst().map(Path::of).orElse(null)
                    : null;
        }
        assertTrue(Files.exists(work));

        queue.destroy();

        assertTrue(queue.waitFor() != 0);
        assertFalse(Files.exists(work.getParent()));
    }

    @Test
    void whatIsNotKnownIsRefusedBeforeAnythingIsBuilt() throws IOException {
        for (String wrong : List.of("NoSuchTest", "--slow", "HelpTest", "-x")) {
            Commands.Result result = Commands.run(Commands.projectFolder().resolve("scripts/test"), wrong);
            assertEquals(2, result.exitCode(), result::output);
        }
        Commands.Result both = Commands.run(Commands.projectFolder().resolve("scripts/test"), "--fast", "sar-core");
        assertEquals(2, both.exitCode(), both::output);
    }

    private Commands.Result queue(int hangSeconds, String... names) throws IOException {
        return Commands.run(command(hangSeconds, names).toArray());
    }

    private List<Object> command(int hangSeconds, String... names) {
        List<Object> command = new ArrayList<>(
                List.of("env", "-C", Commands.projectFolder(), "python3", "-c", DRIVER, folder, hangSeconds));
        command.addAll(List.of(names));
        return command;
    }

    private static String lastLine(Commands.Result result) {
        return result.output().strip().lines().reduce((first, second) -> second).orElse("");
    }
}
