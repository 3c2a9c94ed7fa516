package org.opendedup.sar.sdfs.fuse.kernel;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;

/**
 * Reads the status of a thread in {@code /proc} (proc_pid_status(5)). Nothing is known of a thread that has ended or is
 * not visible (hidepid, another pid namespace).
 */
final class ThreadStatus {
    private static final int SIGKILL = 9;

    private ThreadStatus() {}

    /**
     * Returns whether a thread is about to be killed. Any signal that ends a process without a core dump leaves SIGKILL
     * pending for each of its threads. False of an unknown thread: its request is served to the end.
     */
    static boolean isKilled(int thread) {
        return Stream.concat(values(thread, "SigPnd:"), values(thread, "ShdPnd:"))
                .anyMatch(signals -> (Long.parseUnsignedLong(signals, 16) >>> (SIGKILL - 1) & 1) != 0);
    }

    /** Returns whether a thread has the capability of this number in effect. */
    static boolean hasCapability(int thread, int capability) {
        return values(thread, "CapEff:")
                .anyMatch(capabilities -> (Long.parseUnsignedLong(capabilities, 16) >>> capability & 1) != 0);
    }

    /**
     * Returns whether a group is among the supplementary groups of a thread. A request itself names only one group, so
     * of an unknown thread only that one is known.
     */
    static boolean hasGroup(int thread, int group) {
        return thread > 0
                && values(thread, "Groups:")
                        .flatMap(groups -> Arrays.stream(groups.split("\\s+")))
                        .anyMatch(Integer.toUnsignedString(group)::equals);
    }

    /** Reads bytes, because the name of a thread need not be valid text. */
    private static Stream<String> values(int thread, String name) {
        try {
            byte[] status = Files.readAllBytes(Path.of("/proc", Integer.toString(thread), "status"));
            return new String(status, ISO_8859_1)
                    .lines()
                    .filter(line -> line.startsWith(name))
                    .map(line -> line.substring(name.length()).strip());
        } catch (IOException | SecurityException e) {
            return Stream.empty();
        }
    }
}
