package org.opendedup.sar.sim.device;

import java.util.function.Supplier;

/**
 * Keeps a device busy with a fixed number of requests: each completed one is followed by the next at once. For one
 * thread.
 */
final class ClosedLoop {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;

    private final Simulation simulation;
    private final Device device;
    private final Supplier<Transfer> transfers;
    private int toSubmit;
    private int done;
    private long responseNanos;

    private ClosedLoop(Simulation simulation, Device device, Supplier<Transfer> transfers, int requests) {
        this.simulation = simulation;
        this.device = device;
        this.transfers = transfers;
        toSubmit = requests;
    }

    /**
     * The measurement.
     *
     * @param meanMillis mean time of a request, in milliseconds, waiting included
     * @param elapsedSeconds time of all of them, in seconds
     */
    record Result(double meanMillis, double requestsPerSecond, double elapsedSeconds) {}

    /** Runs a number of requests, {@code depth} of them at once. */
    static Result run(Simulation simulation, Device device, Supplier<Transfer> transfers, int depth, int requests) {
        ClosedLoop loop = new ClosedLoop(simulation, device, transfers, requests);
        long startNanos = simulation.nowNanos();
        for (int i = 0; i < depth; i++) {
            loop.submitNext();
        }
        simulation.run();
        long elapsedNanos = simulation.nowNanos() - startNanos;
        return new Result(
                loop.responseNanos / NANOS_PER_MILLI / loop.done,
                loop.done * NANOS_PER_SECOND / elapsedNanos,
                elapsedNanos / NANOS_PER_SECOND);
    }

    private void submitNext() {
        if (toSubmit == 0) {
            return;
        }
        toSubmit--;
        long submitted = simulation.nowNanos();
        device.submit(transfers.get(), () -> {
            done++;
            responseNanos += simulation.nowNanos() - submitted;
            submitNext();
        });
    }
}
