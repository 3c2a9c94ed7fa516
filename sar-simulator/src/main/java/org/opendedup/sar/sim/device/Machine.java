package org.opendedup.sar.sim.device;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/**
 * A machine's devices, as its parameter file describes them: an array of equal disks, and an SSD. The machines of the
 * papers are included in the program: {@link #SHIPPED}.
 *
 * @param name name of the file, for reports
 * @param published published times of its devices
 */
public record Machine(String name, Array array, DiskParameters disk, SsdParameters ssd, Published published) {
    /** Names of the machines that are included in the program. */
    public static final List<String> SHIPPED = List.of("sar", "lookahead", "tddfs");

    private static final double NANOS_PER_MILLI = 1e6;
    private static final double BYTES_PER_MB = 1e6;
    private static final double MOST_MILLIS = 10_000;
    private static final double MOST_MB_PER_SECOND = 1e6;
    private static final double MOST_WATTS = 10_000;
    private static final long MOST_BYTES = 1L << 50;

    /** Type of the array. */
    public enum Level {
        /** Striped. */
        RAID0,
        /** Striped with parity. */
        RAID5
    }

    /** @param unitBytes consecutive bytes on one disk, after which the next disk follows */
    public record Array(Level level, int disks, long unitBytes) {}

    /** Milliseconds of a random read of 4 KiB, if they were measured. */
    public record Published(OptionalDouble diskReadMillis, OptionalDouble ssdReadMillis) {}

    /**
     * Reads the parameters of a machine.
     *
     * @param nameOrFile one of {@link #SHIPPED}, or the path of a file
     * @throws IOException if there is no such machine, or if a value is wrong; names file and key, and what is allowed
     */
    public static Machine load(String nameOrFile) throws IOException {
        if (SHIPPED.contains(nameOrFile)) {
            try (InputStream in = Machine.class.getResourceAsStream(nameOrFile + ".properties")) {
                if (in == null) {
                    throw new AssertionError(nameOrFile + " is not among the resources");
                }
                return read(nameOrFile, new InputStreamReader(in, StandardCharsets.UTF_8));
            }
        }
        Path file = Path.of(nameOrFile);
        if (!Files.isRegularFile(file)) {
            throw new IOException(nameOrFile + " is neither a file nor one of " + String.join(", ", SHIPPED));
        }
        try (Reader lines = Files.newBufferedReader(file)) {
            return read(nameOrFile, lines);
        }
    }

    static Machine read(String name, Reader lines) throws IOException {
        ParameterFile file = new ParameterFile(name, lines);
        Machine machine = new Machine(name, readArray(file), readDisk(file), readSsd(file), readPublished(file));
        file.checkAllRead();
        return machine;
    }

    private static Array readArray(ParameterFile file) throws IOException {
        Level level = switch (file.text("array.level")) {
            case "raid0" -> Level.RAID0;
            case "raid5" -> Level.RAID5;
            default -> throw file.wrong("array.level", "raid0 or raid5");
        };
        int disks = (int) file.integer("array.disks", level == Level.RAID5 ? 3 : 1, 1000);
        return new Array(level, disks, file.integer("array.unit.bytes", 4096, 1L << 30));
    }

    private static DiskParameters readDisk(ParameterFile file) throws IOException {
        return new DiskParameters(
                file.integer("disk.capacity.bytes", 1 << 20, MOST_BYTES),
                (int) file.integer("disk.cylinders", 100, 100_000_000),
                (int) file.integer("disk.revolutions.per.minute", 100, 100_000),
                new DiskParameters.Seeks(
                        file.number("disk.seek.least.ms", 0, MOST_MILLIS),
                        file.number("disk.seek.average.ms", 0, MOST_MILLIS),
                        file.number("disk.seek.most.ms", 0, MOST_MILLIS)),
                (int) file.integer("disk.zones", 1, 100),
                bytesPerSecond(file, "disk.outer.mb.per.second"),
                bytesPerSecond(file, "disk.inner.mb.per.second"),
                bytesPerSecond(file, "disk.interface.mb.per.second"),
                nanos(file, "disk.overhead.ms"),
                file.integer("disk.read.ahead.bytes", 0, 1L << 30),
                (int) file.integer("disk.read.ahead.segments", 0, 1000),
                power(file, "disk"));
    }

    private static SsdParameters readSsd(ParameterFile file) throws IOException {
        return new SsdParameters(
                file.integer("ssd.capacity.bytes", 1 << 20, MOST_BYTES),
                nanos(file, "ssd.read.latency.ms"),
                bytesPerSecond(file, "ssd.read.mb.per.second"),
                nanos(file, "ssd.write.latency.ms"),
                bytesPerSecond(file, "ssd.write.mb.per.second"),
                (int) file.integer("ssd.requests.at.once", 1, 10_000),
                power(file, "ssd"));
    }

    private static Published readPublished(ParameterFile file) throws IOException {
        return new Published(
                file.optional("published.disk.random.read.ms", 0, MOST_MILLIS),
                file.optional("published.ssd.random.read.ms", 0, MOST_MILLIS));
    }

    private static long nanos(ParameterFile file, String key) throws IOException {
        return Math.round(file.number(key, 0, MOST_MILLIS) * NANOS_PER_MILLI);
    }

    private static double bytesPerSecond(ParameterFile file, String key) throws IOException {
        return file.number(key, 0.001, MOST_MB_PER_SECOND) * BYTES_PER_MB;
    }

    private static Power power(ParameterFile file, String device) throws IOException {
        return new Power(
                file.number(device + ".active.watts", 0, MOST_WATTS),
                file.number(device + ".idle.watts", 0, MOST_WATTS));
    }

    /** Makes the array, with its disks at rest. */
    public Device newArray(Simulation simulation) {
        List<HardDisk> disks = new ArrayList<>();
        for (int i = 0; i < array.disks(); i++) {
            disks.add(new HardDisk(simulation, disk));
        }
        return switch (array.level()) {
            case RAID0 -> new Raid0(disks, array.unitBytes());
            case RAID5 -> new Raid5(disks, array.unitBytes());
        };
    }

    /** Makes one of its disks, at rest. */
    public Device newDisk(Simulation simulation) {
        return new HardDisk(simulation, disk);
    }

    public Device newSsd(Simulation simulation) {
        return new Ssd(simulation, ssd);
    }
}
