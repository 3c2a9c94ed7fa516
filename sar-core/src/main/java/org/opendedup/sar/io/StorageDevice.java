package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/** What the kernel says of the device below a folder, and of a thread's reads from devices. */
public final class StorageDevice {
    private static final Path THREAD_IO = Path.of("/proc/thread-self/io");
    private static final String READ_BYTES = "\nread_bytes: ";

    private StorageDevice() {}

    /**
     * Whether the kernel takes the device of a folder, or of a file, for a rotating disk. Of virtual disks it often does whatever they
     * lie on; a loop device is as the file behind it.
     *
     * @return empty if it does not say: a network file system, say
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
        // A partition has no queue; its folder lies in that of its disk.
        Path file = Files.exists(own) ? own : disk.resolveSibling("queue/rotational");
        return Optional.of(Files.readString(file).strip().equals("1"));
    }

    /** As glibc's {@code gnu_dev_major}. */
    private static long major(long device) {
        return ((device >>> 8) & 0xfff) | ((device >>> 32) & ~0xfffL);
    }

    private static long minor(long device) {
        return (device & 0xff) | ((device >>> 12) & ~0xffL);
    }

    /**
     * Bytes that this thread has made the kernel fetch from devices since it began: what was found in the kernel's cache is not in
     * them. Takes some 10 µs.
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
