package org.opendedup.sar.sim.device;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Measures the reads of a machine's disk and SSD by the size of the requests, one at a time (SAR paper §2.3, Figure 3).
 */
public final class RequestSizes {
    private static final int LEAST_BYTES = 4 << 10;
    private static final int MOST_BYTES = 4 << 20;
    private static final int REQUESTS = 20_000;
    private static final long SEED = 2014;
    private static final double BYTES_PER_MB = 1e6;

    private RequestSizes() {}

    /**
     * The reads of one device with requests of one size.
     *
     * @param device {@code disk} or {@code ssd}
     * @param randomMillis mean time of a request at a random place, in milliseconds
     * @param sequentialMbPerSecond rate of requests one behind another from the first place on
     */
    public record Row(String device, int requestBytes, double randomMillis, double sequentialMbPerSecond) {}

    /** Measures sizes from 4 KiB to 4 MiB, each twice the one before it. */
    public static List<Row> measure(Machine machine) {
        List<Row> rows = new ArrayList<>();
        for (int bytes = LEAST_BYTES; bytes <= MOST_BYTES; bytes *= 2) {
            rows.add(row("disk", machine::newDisk, bytes));
            rows.add(row("ssd", machine::newSsd, bytes));
        }
        return rows;
    }

    private static Row row(String name, Function<Simulation, Device> maker, int bytes) {
        SplittableRandom random = new SplittableRandom(SEED);
        Simulation scattered = new Simulation();
        Device device = maker.apply(scattered);
        long places = device.capacityBytes() / bytes;
        ClosedLoop.Result randomly = ClosedLoop.run(
                scattered, device, () -> Transfer.read(random.nextLong(places) * bytes, bytes), 1, REQUESTS);
        return new Row(name, bytes, randomly.meanMillis(), sequentialMbPerSecond(maker, bytes));
    }

    private static double sequentialMbPerSecond(Function<Simulation, Device> maker, int bytes) {
        Simulation simulation = new Simulation();
        Device device = maker.apply(simulation);
        int requests = (int) Math.min(REQUESTS, device.capacityBytes() / bytes);
        long[] next = {0};
        Supplier<Transfer> transfers = () -> {
            Transfer transfer = Transfer.read(next[0], bytes);
            next[0] = transfer.end();
            return transfer;
        };
        ClosedLoop.Result result = ClosedLoop.run(simulation, device, transfers, 1, requests);
        return (double) requests * bytes / BYTES_PER_MB / result.elapsedSeconds();
    }
}
