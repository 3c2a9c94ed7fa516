package org.opendedup.sar.sim.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
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

    /** Returns the bytes that devices returned to it since its start. */
    static long deviceBytesRead() throws IOException {
        return Long.parseLong(field(INPUT_AND_OUTPUT, "read_bytes:"));
    }

    /** Returns the bytes that it caused to be written to devices since its start, also those not written yet. */
    static long deviceBytesWritten() throws IOException {
        return Long.parseLong(field(INPUT_AND_OUTPUT, "write_bytes:"));
    }

    /** Returns the number of its read system calls since its start. */
    static long readCalls() throws IOException {
        return Long.parseLong(field(INPUT_AND_OUTPUT, "syscr:"));
    }

    /** Collects garbage and returns the memory in use, in bytes: resident, without free parts of the heap. */
    static long usedMemoryBytes() throws IOException {
        System.gc();
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        return bytes(field(STATUS, "VmRSS:")) - heap.getCommitted() + heap.getUsed();
    }

    /** Returns the peak of its memory, in bytes. */
    static long mostMemoryBytes() throws IOException {
        return bytes(mostMemory());
    }

    /** @param text a number of kilobytes as Linux writes it, such as "1024 kB" */
    private static long bytes(String text) {
        return Long.parseLong(text.replace(" kB", "")) << 10;
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
