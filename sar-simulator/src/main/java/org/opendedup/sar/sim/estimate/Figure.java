package org.opendedup.sar.sim.estimate;

/**
 * A quantity estimated from a sample.
 *
 * @param value its estimate
 * @param standardError one standard error of the sampling; 0 if nothing was left out
 */
public record Figure(double value, double standardError) {
    /** Returns a known quantity, without error. */
    static Figure exact(double value) {
        return new Figure(value, 0);
    }

    /** Multiplies by a known factor. */
    Figure times(double factor) {
        return new Figure(value * factor, standardError * Math.abs(factor));
    }

    /** Multiplies by another figure; assumes that the errors are independent and small. */
    Figure times(Figure other) {
        return new Figure(value * other.value, Math.hypot(standardError * other.value, other.standardError * value));
    }

    /** Divides a known dividend by this figure; returns 1 if the figure is 0, which means that there is no data. */
    Figure dividing(double dividend) {
        if (value == 0) {
            return exact(1);
        }
        return new Figure(dividend / value, dividend * standardError / (value * value));
    }
}
