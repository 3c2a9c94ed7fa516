package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.opendedup.sar.disks.Commands;

/**
 * Counts the requests that the kernel sends to one FUSE mount, by its trace event {@code fuse_request_send} (Linux 6.12
 * or newer), in a trace instance of its own.
 */
final class RequestTrace implements AutoCloseable {
    private static final Pattern REQUEST = Pattern.compile("opcode \\d+ \\(FUSE_([A-Z_0-9]+)\\)");

    private final Path fileSystem;
    private final Path instance;
    private final Path event;

    /** @param folder an empty folder, on which the trace file system is mounted */
    RequestTrace(Path folder, Path mountPoint) throws IOException {
        Commands.Result mounted = Commands.run("mount", "-t", "tracefs", "nodev", folder);
        assumeTrue(mounted.exitCode() == 0, () -> "needs tracefs: " + mounted.output());
        fileSystem = folder;
        instance = folder.resolve("instances/sar-" + ProcessHandle.current().pid());
        event = instance.resolve("events/fuse/fuse_request_send");
        try {
            assumeTrue(Files.isDirectory(folder.resolve("events/fuse")), "needs the kernel's trace events of FUSE");
            Files.createDirectory(instance);
            String connection =
                    Commands.succeed("stat", "-c", "%Ld", mountPoint).strip();
            Files.writeString(instance.resolve("buffer_size_kb"), "8192");
            Files.writeString(event.resolve("filter"), "connection == " + connection);
        } catch (IOException | RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** Runs a command that must succeed, and returns how many requests of each kind the kernel sent meanwhile. */
    Map<String, Integer> during(Object... command) throws IOException {
        Files.writeString(instance.resolve("trace"), "");
        Files.writeString(event.resolve("enable"), "1");
        try {
            Commands.succeed(command);
        } finally {
            Files.writeString(event.resolve("enable"), "0");
        }
        Map<String, Integer> counts = new TreeMap<>();
        Matcher requests = REQUEST.matcher(Files.readString(instance.resolve("trace")));
        while (requests.find()) {
            counts.merge(requests.group(1), 1, Integer::sum);
        }
        return counts;
    }

    @Override
    public void close() throws IOException {
        if (Files.isDirectory(instance)) {
            Files.delete(instance);
        }
        Commands.run("umount", fileSystem);
    }
}
