package org.opendedup.sar.sdfs.fuse.kernel;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Reads the status of a thread in {@code /proc} (proc_pid_status(5)). */
final class ThreadStatus {
    private ThreadStatus() {}

    /**
     * Returns the lines of the status; no lines if the thread has ended or is not visible (hidepid). Reads bytes,
     * because the name of a thread need not be valid text.
     */
    static Stream<String> lines(int thread) {
        try {
            byte[] status = Files.readAllBytes(Path.of("/proc", Integer.toString(thread), "status"));
            return new String(status, ISO_8859_1).lines();
        } catch (IOException | SecurityException e) {
            return Stream.empty();
        }
    }
}
