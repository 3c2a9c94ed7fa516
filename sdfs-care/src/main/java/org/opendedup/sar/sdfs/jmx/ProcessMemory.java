package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Reads the memory use of this process from the kernel. */
final class ProcessMemory {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String RESIDENT = "VmRSS:";

    private ProcessMemory() {}

    /** Returns the resident memory of this process, heap and native, in bytes. */
    static long residentBytes() {
        try {
            return residentBytes(Files.readAllLines(STATUS));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Parses the line {@code VmRSS: 12345 kB}. */
    static long residentBytes(List<String> status) throws IOException {
        for (String line : status) {
            if (line.startsWith(RESIDENT)) {
                String number = line.substring(RESIDENT.length()).strip().split("\\s+", 2)[0];
                return Long.parseLong(number) * 1024;
            }
        }
        throw new IOException(STATUS + " has no line " + RESIDENT);
    }
}
