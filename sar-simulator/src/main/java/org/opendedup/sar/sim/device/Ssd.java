package org.opendedup.sar.sim.device;

import java.util.ArrayDeque;

/**
 * An SSD: each request takes a latency and a transfer time, independent of the place. It serves a few requests at once,
 * the others in order. For one thread.
 */
final class Ssd implements Device {
    private static final double NANOS_PER_SECOND = 1e9;

    private final Simulation simulation;
    private final SsdParameters parameters;
    private final ArrayDeque<Request> waiting = new ArrayDeque<>();
    private final Meter meter;
    private int serving;

    private record Request(Transfer transfer, Completion completion) {}

    Ssd(Simulation simulation, SsdParameters parameters) {
        this.simulation = simulation;
        this.parameters = parameters;
        meter = new Meter(simulation, parameters.power());
    }

    @Override
    public void submit(Transfer transfer, Completion completion) {
        Device.checkFits(transfer, parameters.capacityBytes());
        meter.submitted();
        waiting.add(new Request(transfer, completion));
        serveNext();
    }

    private void serveNext() {
        while (serving < parameters.requestsAtOnce() && !waiting.isEmpty()) {
            Request next = waiting.remove();
            serving++;
            simulation.at(simulation.nowNanos() + serviceNanos(next.transfer()), () -> finish(next));
        }
    }

    private void finish(Request request) {
        serving--;
        meter.served(request.transfer());
        request.completion().done();
        serveNext();
    }

    private long serviceNanos(Transfer transfer) {
        return transfer.isWrite()
                ? parameters.writeLatencyNanos() + nanos(transfer.bytes(), parameters.writeBytesPerSecond())
                : parameters.readLatencyNanos() + nanos(transfer.bytes(), parameters.readBytesPerSecond());
    }

    private static long nanos(long bytes, double bytesPerSecond) {
        return Math.round(bytes * NANOS_PER_SECOND / bytesPerSecond);
    }

    @Override
    public long capacityBytes() {
        return parameters.capacityBytes();
    }

    @Override
    public DeviceStatistics statistics() {
        return meter.statistics();
    }
}
