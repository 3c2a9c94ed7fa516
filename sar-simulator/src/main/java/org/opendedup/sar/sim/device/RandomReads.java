package org.opendedup.sar.sim.device;

import java.util.SplittableRandom;

/** Measures how long a machine's array takes to read a number of bytes at random places. */
public final class RandomReads {
    private static final long SEED = 2014;
    private static final int REQUESTS = 2000;

    private RandomReads() {}

    /** Returns the mean milliseconds of reads issued one after the other, at random multiples of their size. */
    public static double meanMillis(Machine machine, long bytes) {
        Simulation simulation = new Simulation();
        Device array = machine.newArray(simulation);
        SplittableRandom random = new SplittableRandom(SEED);
        long places = array.capacityBytes() / bytes;
        return ClosedLoop.run(
                        simulation, array, () -> Transfer.read(random.nextLong(places) * bytes, bytes), 1, REQUESTS)
                .meanMillis();
    }
}
