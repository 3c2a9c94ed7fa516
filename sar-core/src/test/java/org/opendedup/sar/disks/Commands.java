package org.opendedup.sar.disks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs programs. Output goes to a file: a daemon that keeps it open does not delay the test. */
public final class Commands {
    /** Bounds what hangs: an installation with its rehearsal takes 50 seconds of an idle processor. */
    private static final int LIMIT_SECONDS = 300;

    private Commands() {}

    /** The result of a program; {@code output} is both its streams. */
    public record Result(int exitCode, String output) {}

    public static Result run(Map<String, String> environment, List<String> command) throws IOException {
        Path output = Files.createTempFile("sar-command", ".out");
        try {
            ProcessBuilder builder = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .redirectInput(Path.of("/dev/null").toFile());
            // Daemons of tests live for seconds: the second compiler costs more than it saves.
            builder.environment().putIfAbsent("SDFS_JAVA_OPTS", "-XX:TieredStopAtLevel=1");
            builder.environment().putAll(environment);
            int exitCode = await(builder.start(), command, output);
            return new Result(exitCode, Files.readString(output, StandardCharsets.ISO_8859_1));
        } finally {
            Files.delete(output);
        }
    }

    private static int await(Process process, List<String> command, Path output) throws IOException {
        try {
            if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError(command + " did not end in " + LIMIT_SECONDS + " s; so far it said "
                        + Files.readString(output, StandardCharsets.ISO_8859_1));
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for " + command, e);
        } finally {
            process.destroyForcibly();
        }
    }

    public static Result run(Object... command) throws IOException {
        return run(Map.of(), words(command));
    }

    /** Runs a program that must succeed. Returns its output. */
    public static String succeed(Object... command) throws IOException {
        Result result = run(command);
        assertEquals(0, result.exitCode, () -> Arrays.toString(command) + " said " + result.output);
        return result.output;
    }

    public static List<String> words(Object... command) {
        return Arrays.stream(command).map(Object::toString).toList();
    }

    /** Returns the folder of the project, with its scripts: a test runs somewhere below it. */
    public static Path projectFolder() {
        for (Path at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
            if (Files.exists(at.resolve("scripts/mount.sdfs"))) {
                return at;
            }
        }
        throw new AssertionError("no scripts/mount.sdfs above " + Path.of("").toAbsolutePath());
    }
}
