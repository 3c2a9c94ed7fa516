package org.opendedup.sar.sim.report;

import java.util.List;

/**
 * The result of a command, to be written by {@link ReportFolder}.
 *
 * @param isSynthetic whether the input was synthetic; the page then says so at the top
 * @param facts what was run, with which input and parameters
 * @param sections those without contents are left out
 * @param rows the raw rows, written in the same folder as the page
 */
public record Report(String title, boolean isSynthetic, List<Fact> facts, List<Section> sections, List<Table> rows) {
    /** A parameter or an input. */
    public record Fact(String name, String value) {}

    public Report {
        facts = List.copyOf(facts);
        sections = sections.stream().filter(section -> !section.isEmpty()).toList();
        rows = List.copyOf(rows);
    }
}
