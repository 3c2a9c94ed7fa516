package org.opendedup.sar.sim.device;

/** Counts the work of one device, and its energy: one power while it has work, another while it is idle. */
final class Meter {
    private static final double NANOS_PER_SECOND = 1e9;

    private final Simulation simulation;
    private final Power power;
    private long reads;
    private long writes;
    private long readBytes;
    private long writtenBytes;
    private long busyNanos;
    private long busySince;
    private int pending;
    private int deepestQueue;

    Meter(Simulation simulation, Power power) {
        this.simulation = simulation;
        this.power = power;
    }

    /** Notes that a request arrived. */
    void submitted() {
        if (pending++ == 0) {
            busySince = simulation.nowNanos();
        }
        deepestQueue = Math.max(deepestQueue, pending);
    }

    /** Notes that a request was served. */
    void served(Transfer transfer) {
        if (transfer.isWrite()) {
            writes++;
            writtenBytes += transfer.bytes();
        } else {
            reads++;
            readBytes += transfer.bytes();
        }
        if (--pending == 0) {
            busyNanos += simulation.nowNanos() - busySince;
        }
    }

    DeviceStatistics statistics() {
        long busy = busyNanos + (pending > 0 ? simulation.nowNanos() - busySince : 0);
        long idle = simulation.nowNanos() - busy;
        double joules = (power.activeWatts() * busy + power.idleWatts() * idle) / NANOS_PER_SECOND;
        return new DeviceStatistics(reads, writes, readBytes, writtenBytes, busy, joules, deepestQueue);
    }
}
