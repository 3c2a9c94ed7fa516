package org.opendedup.sar.sim.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads figures of this process from Linux. */
final class ProcessFigures {
    private static final Path INPUT_AND_OUTPUT = Path.of("/proc/self/io");
    private static final Path STATUS = Path.of("/proc/self/status");

    private ProcessFigures() {}

    /** Returns the bytes that its system calls have read since its start, from files of any kind, cached or not. */
    static long bytesRead() throws IOException {
        return Long.parseLong(field(INPUT_AND_OUTPUT, "rchar:"));
    }

    /** Returns the peak of its memory, as Linux writes it. */
    static String mostMemory() throws IOException {
        return field(STATUS, "VmHWM:");
    }

    private static String field(Path file, String name) throws IOException {
        for (String line : Files.readAllLines(file)) {
            if (line.startsWith(name)) {
                return line.substring(name.length()).strip();
            }
        }
        throw new IOException(file + " has no " + name);
    }
}
