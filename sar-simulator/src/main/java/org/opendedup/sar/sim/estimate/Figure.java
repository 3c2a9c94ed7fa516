package org.opendedup.sar.sim.estimate;

/**
 * A quantity found from a sample.
 *
 * @param value its estimate
 * @param standardError one standard error of the sampling; 0 if nothing was left out
 */
public record Figure(double value, double standardError) {
    /** One that is known. */
    static Figure exact(double value) {
        return new Figure(value, 0);
    }

    /** Times something known. */
    Figure times(double factor) {
        return new Figure(value * factor, standardError * Math.abs(factor));
    }

    /** Times another one; the errors are taken to be independent, and small. */
    Figure times(Figure other) {
        return new Figure(value * other.value, Math.hypot(standardError * other.value, other.standardError * value));
    }

    /** Something known, divided by this one; 1 if both are 0, as of data that there is none of. */
    Figure dividing(double dividend) {
        if (value == 0) {
            return exact(1);
        }
        return new Figure(dividend / value, dividend * standardError / (value * value));
    }
}
