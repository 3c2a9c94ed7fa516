package org.opendedup.sar.sim.report;

import java.util.List;

/**
 * A chart, as plain values.
 *
 * @param name of its file, without an ending: lower-case letters, digits and hyphens
 * @param title what is seen
 */
public record Chart(String name, String title, Axis x, Axis y, Mark mark, List<Line> lines) {
    /** How points are drawn. */
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

    /** Whether there is anything to see. */
    boolean hasPoints() {
        return lines.stream().anyMatch(line -> !line.points().isEmpty());
    }

    /** The panels, in the order in which lines name them. */
    List<String> panels() {
        return lines.stream().map(Line::panel).distinct().toList();
    }

    /** What the lines are of, in their order. */
    List<String> names() {
        return lines.stream().map(Line::name).distinct().toList();
    }
}
