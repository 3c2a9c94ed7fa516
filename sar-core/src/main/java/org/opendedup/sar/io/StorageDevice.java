package org.opendedup.sar.io;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** Reads the kernel's information about the device below a folder, and about a thread's reads from devices. */
public final class StorageDevice {
    private static final Path THREAD_IO = Path.of("/proc/thread-self/io");
    private static final String READ_BYTES = "\nread_bytes: ";

    /** Devices on top of each other that are looked through: a partition on LVM on RAID has four. */
    private static final int DEPTH_MAX = 16;

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

    /**
     * Returns the disks that a folder, or a file, lies on: the names that they have in {@code /dev} and
     * {@code /sys/block}. Looks through partitions, device-mapper, software RAID and loop devices. Empty if the kernel
     * does not tell, for example of a network file system.
     */
    public static List<String> disksBelow(Path folder) {
        try {
            Object number = Files.getAttribute(folder, "unix:dev");
            return number instanceof Long device
                    ? disksBelow(Path.of("/sys/dev/block", major(device) + ":" + minor(device)), DEPTH_MAX)
                            .distinct()
                            .sorted()
                            .toList()
                    : List.of();
        } catch (IOException | UncheckedIOException | UnsupportedOperationException unknown) {
            return List.of();
        }
    }

    /** @param device a folder or a link in {@code /sys} */
    private static Stream<String> disksBelow(Path device, int depth) throws IOException {
        if (depth == 0 || !Files.exists(device)) {
            return Stream.empty();
        }
        Path disk = device.toRealPath();
        Path backing = disk.resolve("loop/backing_file");
        if (Files.exists(backing)) {
            return disksBelow(Path.of(Files.readString(backing).strip())).stream();
        }
        if (Files.exists(disk.resolve("partition"))) {
            return disksBelow(disk.resolve(".."), depth - 1);
        }
        List<Path> below;
        try (Stream<Path> slaves = Files.list(disk.resolve("slaves"))) {
            below = slaves.toList();
        }
        if (below.isEmpty()) {
            return Stream.of(String.valueOf(disk.getFileName()));
        }
        List<String> disks = new ArrayList<>();
        for (Path slave : below) {
            disks.addAll(disksBelow(slave, depth - 1).toList());
        }
        return disks.stream();
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
