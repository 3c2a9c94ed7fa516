package org.opendedup.sar.sim.device;

/**
 * Seek time of the arm over a distance: c + a √(d − 1) + b (d − 1), with a and b from the least, average and longest
 * seek (Lee and Katz, "An analytic performance model of disk arrays", SIGMETRICS 1993). No state.
 */
final class SeekCurve {
    private static final double NANOS_PER_MILLI = 1e6;

    private final double a;
    private final double b;
    private final double c;

    SeekCurve(DiskParameters.Seeks seeks, int cylinders) {
        double least = seeks.leastMillis();
        double average = seeks.averageMillis();
        double most = seeks.mostMillis();
        a = (-10 * least + 15 * average - 5 * most) / (3 * Math.sqrt(cylinders));
        b = (7 * least - 15 * average + 8 * most) / (3.0 * cylinders);
        c = least;
    }

    /** Returns the nanoseconds to move over {@code distance} cylinders; 0 for none. */
    long nanos(int distance) {
        if (distance == 0) {
            return 0;
        }
        return Math.round((c + a * Math.sqrt(distance - 1) + b * (distance - 1)) * NANOS_PER_MILLI);
    }
}
