package org.opendedup.sar.sim.report;

import java.util.List;

/**
 * A chart, as plain values.
 *
 * @param name name of its file, without an extension: lower-case letters, digits and hyphens
 * @param title heading of the chart
 */
public record Chart(String name, String title, Axis x, Axis y, Mark mark, List<Line> lines) {
    /** The way of drawing points. */
    public enum Mark {
        /** A line through dots. */
        DOTS,
        /** A line alone, for many points. */
        LINES,
        /** Bars side by side, on an axis of names. */
        BARS
    }

    public Chart {
        if (!name.matches("[a-z0-9-]+")) {
            throw new IllegalArgumentException("a chart's name is of a-z, 0-9 and hyphens, not '" + name + "'");
        }
        if (lines.isEmpty()) {
            throw new IllegalArgumentException(name + " has no lines");
        }
        lines = List.copyOf(lines);
    }

    /** Returns whether there is anything to draw. */
    boolean hasPoints() {
        return lines.stream().anyMatch(line -> !line.points().isEmpty());
    }

    /** Returns the panels, in the order in which lines name them. */
    List<String> panels() {
        return lines.stream().map(Line::panel).distinct().toList();
    }

    /** Returns the names of the lines, in their order. */
    List<String> names() {
        return lines.stream().map(Line::name).distinct().toList();
    }
}
