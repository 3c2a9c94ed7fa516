package org.opendedup.sar.sim.device;

import java.util.SplittableRandom;

/** How long a machine's array takes to read so many bytes anywhere. */
public final class RandomReads {
    private static final long SEED = 2014;
    private static final int REQUESTS = 2000;

    private RandomReads() {}

    /** Mean milliseconds of reads one after the other, at places where a multiple of their size begins. */
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
