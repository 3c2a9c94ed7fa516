package org.opendedup.sar.sim.report;

import java.util.List;

/**
 * A part of a report.
 *
 * @param text what to know of it; may be empty
 * @param charts each shown with a table of its points
 * @param tables shown as they are
 */
public record Section(String title, String text, List<Chart> charts, List<Table> tables) {
    public Section {
        charts = List.copyOf(charts);
        tables = List.copyOf(tables);
    }

    public static Section of(String title, String text, Chart... charts) {
        return new Section(title, text, List.of(charts), List.of());
    }

    public static Section of(String title, String text, Table table) {
        return new Section(title, text, List.of(), List.of(table));
    }
}
