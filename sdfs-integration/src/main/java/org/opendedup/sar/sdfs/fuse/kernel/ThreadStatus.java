package org.opendedup.sar.sdfs.fuse.kernel;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** What {@code /proc} says of a thread (proc_pid_status(5)). */
final class ThreadStatus {
    private ThreadStatus() {}

    /** The lines; none for a thread that is gone or not to be seen (hidepid). Read as bytes: a thread's name need not be text. */
    static Stream<String> lines(int thread) {
        try {
            byte[] status = Files.readAllBytes(Path.of("/proc", Integer.toString(thread), "status"));
            return new String(status, ISO_8859_1).lines();
        } catch (IOException | SecurityException e) {
            return Stream.empty();
        }
    }
}
