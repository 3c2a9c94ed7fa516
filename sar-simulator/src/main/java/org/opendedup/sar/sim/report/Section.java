package org.opendedup.sar.sim.report;

import java.util.List;

/**
 * A part of a report.
 *
 * @param text explanation; may be empty
 * @param charts each shown with a table of its points; those without points are left out
 * @param tables shown unchanged
 */
public record Section(String title, String text, List<Chart> charts, List<Table> tables) {
    public Section {
        charts = charts.stream().filter(Chart::hasPoints).toList();
        tables = List.copyOf(tables);
    }

    /** Returns whether it has nothing to show. */
    boolean isEmpty() {
        return charts.isEmpty() && tables.isEmpty();
    }

    public static Section of(String title, String text, Chart... charts) {
        return new Section(title, text, List.of(charts), List.of());
    }

    public static Section of(String title, String text, Table table) {
        return new Section(title, text, List.of(), List.of(table));
    }
}
