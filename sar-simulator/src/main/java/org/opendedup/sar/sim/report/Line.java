package org.opendedup.sar.sim.report;

import java.util.ArrayList;
import java.util.List;

/**
 * One series of points in a chart, in the order of their x. Lines with the same name have one colour, in all panels.
 *
 * @param panel panel of the chart; empty in a chart of one panel
 * @param isBound whether it is a bound or a reference for the others; drawn dashed and grey
 */
public record Line(String panel, String name, boolean isBound, List<Point> points) {
    /**
     * A point.
     *
     * @param label label of x, as in a table
     * @param x without meaning on an axis of names
     */
    public record Point(String label, double x, double y) {}

    public Line {
        points = List.copyOf(points);
    }

    /** Collects points. */
    public static final class Builder {
        private final String panel;
        private final String name;
        private final boolean isBound;
        private final List<Point> points = new ArrayList<>();

        private Builder(String panel, String name, boolean isBound) {
            this.panel = panel;
            this.name = name;
            this.isBound = isBound;
        }

        /** Adds a point on an axis of numbers. */
        public Builder add(double x, double y) {
            points.add(new Point(Numbers.text(x), x, y));
            return this;
        }

        /** Adds a point on an axis of names. */
        public Builder add(String x, double y) {
            points.add(new Point(x, points.size(), y));
            return this;
        }

        public Line build() {
            return new Line(panel, name, isBound, points);
        }
    }

    /** Starts a line. */
    public static Builder named(String name) {
        return new Builder("", name, false);
    }

    /** Starts a line of a panel. */
    public static Builder named(String panel, String name) {
        return new Builder(panel, name, false);
    }

    /** Starts a bound. */
    public static Builder bound(String panel, String name) {
        return new Builder(panel, name, true);
    }
}
