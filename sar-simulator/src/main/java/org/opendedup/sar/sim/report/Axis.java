package org.opendedup.sar.sim.report;

/**
 * An axis of a chart.
 *
 * @param title title with the unit
 */
public record Axis(String title, Scale scale) {
    /** The scale of values. */
    public enum Scale {
        LINEAR,
        /** For sizes that double. Values are above 0. */
        LOG2,
        /** Values are above 0. */
        LOG10,
        /** Names, in their order. */
        NAMES
    }

    public static Axis linear(String title) {
        return new Axis(title, Scale.LINEAR);
    }

    public static Axis log2(String title) {
        return new Axis(title, Scale.LOG2);
    }

    public static Axis log10(String title) {
        return new Axis(title, Scale.LOG10);
    }

    public static Axis names(String title) {
        return new Axis(title, Scale.NAMES);
    }
}
