package org.opendedup.sar.sim.report;

import java.util.ArrayList;
import java.util.List;

/** Chooses the grid lines of a logarithmic axis: round numbers, more of them in a small range. */
final class LogBreaks {
    private static final double[] FEW = {1};
    private static final double[] SOME = {1, 2, 5};
    private static final double[] MANY = {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8};
    private static final double SMALL_RANGE = 12;
    private static final double LARGE_RANGE = 3000;

    private LogBreaks() {}

    /**
     * Returns the breaks for values; none without a value above 0.
     *
     * @param values ascending; a value that is not above 0 has no place on such an axis
     */
    static List<Double> of(List<Double> values) {
        List<Double> sorted = values.stream().filter(value -> value > 0).toList();
        if (sorted.isEmpty()) {
            return List.of();
        }
        double least = sorted.get(0);
        double most = sorted.get(sorted.size() - 1);
        double[] mantissas = most / least < SMALL_RANGE ? MANY : most / least < LARGE_RANGE ? SOME : FEW;
        List<Double> breaks = new ArrayList<>();
        for (int power = (int) Math.floor(Math.log10(least)); Math.pow(10, power) <= most; power++) {
            for (double mantissa : mantissas) {
                // Parsed from text, so that 3e-1 is 0.3.
                double value = Double.parseDouble(mantissa + "e" + power);
                if (value >= least && value <= most) {
                    breaks.add(value);
                }
            }
        }
        return breaks;
    }
}
