package org.opendedup.sar.sim.device;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs the devices of a machine and compares them with published figures. Figures that were not published, or that the
 * model was not fitted to, are reported without a verdict.
 */
public final class SelfCheck {
    private static final long SEED = 2014;
    private static final int BLOCK = 4096;
    private static final int REQUESTS = 40_000;
    private static final long SEQUENTIAL_REQUEST = 256 << 10;
    private static final int SEQUENTIAL_REQUESTS = 4000;
    private static final double TOLERANCE_PERCENT = 1;
    private static final long IDLE_NANOS = 1_000_000_000;
    private static final double BYTES_PER_MB = 1e6;

    private final Machine machine;
    private final List<Finding> findings = new ArrayList<>();

    private SelfCheck(Machine machine) {
        this.machine = machine;
    }

    /**
     * One measurement.
     *
     * @param expected the published or configured value, or null
     * @param deviationPercent deviation of the reached value from the expected one, in percent, or null
     * @param passed whether it is close enough; null if that is not judged
     */
    public record Finding(
            String name,
            String unit,
            @Nullable Double expected,
            double reached,
            @Nullable Double deviationPercent,
            @Nullable Boolean passed) {}

    /** Measures everything; takes a few seconds. */
    public static List<Finding> run(Machine machine) {
        SelfCheck check = new SelfCheck(machine);
        check.singleRequests();
        check.queueDepths();
        check.sequentialReads();
        check.smallWrites();
        check.power();
        return List.copyOf(check.findings);
    }

    /** Returns whether all judged measurements passed. */
    public static boolean passed(List<Finding> findings) {
        return findings.stream().noneMatch(finding -> Boolean.FALSE.equals(finding.passed()));
    }

    private void singleRequests() {
        judge(
                "disk: random read of 4 KiB",
                "ms",
                machine.published().diskReadMillis(),
                diskReads(1).meanMillis());
        judge(
                "SSD: random read of 4 KiB",
                "ms",
                machine.published().ssdReadMillis(),
                randomly(machine::newSsd, false, 1).meanMillis());
    }

    private void queueDepths() {
        for (int depth : new int[] {1, 8, 32}) {
            report(
                    "disk: random reads of 4 KiB, " + depth + " at once",
                    "IOPS",
                    diskReads(depth).requestsPerSecond());
        }
        report(
                "SSD: random reads of 4 KiB, 8 at once",
                "IOPS",
                randomly(machine::newSsd, false, 8).requestsPerSecond());
        report(
                "array: random reads of 4 KiB, 32 at once",
                "IOPS",
                randomly(machine::newArray, false, 32).requestsPerSecond());
    }

    private void sequentialReads() {
        report("disk: sequential reads, outermost", "MB/s", sequentialReads(0));
        report(
                "disk: sequential reads, halfway",
                "MB/s",
                sequentialReads(machine.disk().capacityBytes() / 2));
        long innermost = machine.disk().capacityBytes() - SEQUENTIAL_REQUEST * SEQUENTIAL_REQUESTS;
        if (innermost > 0) {
            report("disk: sequential reads, innermost", "MB/s", sequentialReads(innermost));
        }
    }

    private void smallWrites() {
        report(
                "array: random write of 4 KiB",
                "ms",
                randomly(machine::newArray, true, 1).meanMillis());
        report(
                "array: random read of 4 KiB",
                "ms",
                randomly(machine::newArray, false, 1).meanMillis());
    }

    private void power() {
        judge(
                "disk: power, busy",
                "W",
                OptionalDouble.of(machine.disk().power().activeWatts()),
                wattsBusy(machine::newDisk));
        judge(
                "disk: power, idle",
                "W",
                OptionalDouble.of(machine.disk().power().idleWatts()),
                wattsIdle(machine::newDisk));
        judge(
                "SSD: power, busy",
                "W",
                OptionalDouble.of(machine.ssd().power().activeWatts()),
                wattsBusy(machine::newSsd));
        judge(
                "SSD: power, idle",
                "W",
                OptionalDouble.of(machine.ssd().power().idleWatts()),
                wattsIdle(machine::newSsd));
    }

    private ClosedLoop.Result diskReads(int depth) {
        return randomly(machine::newDisk, false, depth);
    }

    private static ClosedLoop.Result randomly(Function<Simulation, Device> maker, boolean isWrite, int depth) {
        Simulation simulation = new Simulation();
        Device device = maker.apply(simulation);
        return ClosedLoop.run(simulation, device, random(device, isWrite), depth, REQUESTS);
    }

    private static Supplier<Transfer> random(Device device, boolean isWrite) {
        SplittableRandom random = new SplittableRandom(SEED);
        long blocks = device.capacityBytes() / BLOCK;
        return () -> new Transfer(isWrite, random.nextLong(blocks) * BLOCK, BLOCK);
    }

    private double sequentialReads(long from) {
        Simulation simulation = new Simulation();
        Device disk = machine.newDisk(simulation);
        long[] next = {from};
        ClosedLoop.Result result = ClosedLoop.run(
                simulation,
                disk,
                () -> {
                    Transfer transfer = Transfer.read(next[0], SEQUENTIAL_REQUEST);
                    next[0] = transfer.end();
                    return transfer;
                },
                1,
                SEQUENTIAL_REQUESTS);
        return disk.statistics().readBytes() / BYTES_PER_MB / result.elapsedSeconds();
    }

    private static double wattsBusy(Function<Simulation, Device> maker) {
        Simulation simulation = new Simulation();
        Device device = maker.apply(simulation);
        ClosedLoop.Result result = ClosedLoop.run(simulation, device, random(device, false), 1, REQUESTS);
        return device.statistics().joules() / result.elapsedSeconds();
    }

    private static double wattsIdle(Function<Simulation, Device> maker) {
        Simulation simulation = new Simulation();
        Device device = maker.apply(simulation);
        simulation.at(IDLE_NANOS, () -> {});
        simulation.run();
        return device.statistics().joules() * 1e9 / IDLE_NANOS;
    }

    private void report(String name, String unit, double reached) {
        findings.add(new Finding(name, unit, null, reached, null, null));
    }

    private void judge(String name, String unit, OptionalDouble expected, double reached) {
        if (expected.isEmpty()) {
            report(name, unit, reached);
            return;
        }
        double published = expected.getAsDouble();
        double deviation = published == 0 ? 0 : 100 * (reached - published) / published;
        boolean passed = published == 0 ? reached == 0 : Math.abs(deviation) <= TOLERANCE_PERCENT;
        findings.add(new Finding(name, unit, published, reached, deviation, passed));
    }
}
