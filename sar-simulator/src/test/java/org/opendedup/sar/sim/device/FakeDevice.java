package org.opendedup.sar.sim.device;

import java.util.List;

/** Writes down what it is asked for, and takes a millisecond each. */
final class FakeDevice implements Device {
    private final Simulation simulation;
    private final String name;
    private final long capacityBytes;
    private final List<String> log;

    FakeDevice(Simulation simulation, String name, long capacityBytes, List<String> log) {
        this.simulation = simulation;
        this.name = name;
        this.capacityBytes = capacityBytes;
        this.log = log;
    }

    @Override
    public void submit(Transfer transfer, Completion completion) {
        log.add(simulation.nowNanos() / 1_000_000 + "ms " + name + (transfer.isWrite() ? " write " : " read ")
                + transfer.offset() + "+" + transfer.bytes());
        simulation.at(simulation.nowNanos() + 1_000_000, completion::done);
    }

    @Override
    public long capacityBytes() {
        return capacityBytes;
    }

    @Override
    public DeviceStatistics statistics() {
        return DeviceStatistics.NONE;
    }
}
