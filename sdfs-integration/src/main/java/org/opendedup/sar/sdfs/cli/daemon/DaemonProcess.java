package org.opendedup.sar.sdfs.cli.daemon;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Checks whether a volume's process still holds files, such as its log, on a disk that is to be unmounted. */
public final class DaemonProcess {
    private DaemonProcess() {}

    /**
     * Returns whether the process has open files. A zombie has none. But the first thread may end long before the last
     * one, and the files are closed only with the last one. {@code scripts/umount-helper} does the same.
     */
    public static boolean isAlive(long pid) throws IOException {
        Path process = Path.of("/proc", Long.toString(pid));
        try {
            String stat = Files.readString(process.resolve("stat"), StandardCharsets.ISO_8859_1);
            char state = stat.charAt(stat.lastIndexOf(')') + 2);
            return state != 'Z' && state != 'X' || threads(process) > 1;
        } catch (NoSuchFileException e) {
            return false;
        } catch (IOException e) {
            // ESRCH: the process ended during the check.
            return Files.exists(process);
        }
    }

    private static long threads(Path process) throws IOException {
        try (Stream<Path> threads = Files.list(process.resolve("task"))) {
            return threads.count();
        }
    }
}
