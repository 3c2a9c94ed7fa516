package org.opendedup.sar.sdfs.cli.daemon;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The process that serves a volume, as other processes see it. */
public record DaemonProcess(long pid) implements DaemonStart.Daemon {
    /**
     * Starts a daemon that is no child of this process.
     *
     * @param builder of a process whose output is one line, the number of the daemon's process, and then ends
     * @param input what the daemon reads
     */
    public static DaemonProcess start(ProcessBuilder builder, DaemonStart.Input input) throws IOException {
        Process starter = builder.start();
        input.writeTo(starter.getOutputStream());
        try (BufferedReader said = starter.inputReader(StandardCharsets.US_ASCII)) {
            String pid = said.readLine();
            if (pid == null || pid.isEmpty()) {
                throw new IOException("no process was started: " + builder.command());
            }
            return new DaemonProcess(Long.parseLong(pid));
        }
    }

    @Override
    public boolean isAlive() throws IOException {
        return isAlive(pid);
    }

    @Override
    public void end() {
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroy);
    }

    /**
     * Returns whether the process still holds files, such as its log, on a disk that is to be unmounted. A zombie has
     * none. But the first thread may end long before the last one, and the files are closed only with the last one.
     * {@code scripts/umount-helper} does the same.
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
