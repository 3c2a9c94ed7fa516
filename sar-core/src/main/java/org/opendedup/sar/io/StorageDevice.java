package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/** Reads the kernel's information about the device below a folder, and about a thread's reads from devices. */
public final class StorageDevice {
    private static final Path THREAD_IO = Path.of("/proc/thread-self/io");
    private static final String READ_BYTES = "\nread_bytes: ";

    private StorageDevice() {}

    /**
     * Returns whether the kernel reports the device of a folder, or of a file, as a rotating disk. It often reports a
     * virtual disk as rotating whatever lies below it. For a loop device, the device of its backing file counts.
     *
     * @return empty if the kernel does not report it, for example for a network file system
     */
    public static Optional<Boolean> isRotational(Path folder) {
        try {
            Object number = Files.getAttribute(folder, "unix:dev");
            return number instanceof Long device ? isRotational(major(device) + ":" + minor(device)) : Optional.empty();
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException unknown) {
            return Optional.empty();
        }
    }

    private static Optional<Boolean> isRotational(String number) throws IOException {
        Path device = Path.of("/sys/dev/block", number);
        if (!Files.exists(device)) {
            return Optional.empty();
        }
        Path disk = device.toRealPath();
        Path backing = disk.resolve("loop/backing_file");
        if (Files.exists(backing)) {
            return isRotational(Path.of(Files.readString(backing).strip()));
        }
        Path own = disk.resolve("queue/rotational");
        // A partition has no queue folder; its own folder lies in that of its disk.
        Path file = Files.exists(own) ? own : disk.resolveSibling("queue/rotational");
        return Optional.of(Files.readString(file).strip().equals("1"));
    }

    /** Returns the major number, as glibc's {@code gnu_dev_major} does. */
    private static long major(long device) {
        return ((device >>> 8) & 0xfff) | ((device >>> 32) & ~0xfffL);
    }

    private static long minor(long device) {
        return (device & 0xff) | ((device >>> 12) & ~0xffL);
    }

    /**
     * Returns the bytes that the kernel has read from devices for this thread since it started; bytes found in the
     * kernel's cache are not counted. Takes about 10 µs.
     *
     * @return empty where the kernel does not count them
     */
    public static OptionalLong threadReadBytes() {
        try {
            String counters = Files.readString(THREAD_IO);
            int start = counters.indexOf(READ_BYTES);
            int end = counters.indexOf('\n', start + READ_BYTES.length());
            return start < 0 || end < 0
                    ? OptionalLong.empty()
                    : OptionalLong.of(Long.parseLong(counters, start + READ_BYTES.length(), end, 10));
        } catch (IOException | NumberFormatException unknown) {
            return OptionalLong.empty();
        }
    }
}
