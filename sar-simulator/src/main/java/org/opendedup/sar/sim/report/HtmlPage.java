package org.opendedup.sar.sim.report;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes a report as one page of HTML, well-formed as XML, that refers only to the files of raw rows in the same
 * folder.
 */
final class HtmlPage {
    /** Rows of a table up to which it is open at first. */
    private static final int OPEN_ROWS = 16;

    private static final String STYLE = """
            :root { color-scheme: light dark; --text: #222; --page: #fff; --line: #ccc; --soft: #f4f4f4; }
            @media (prefers-color-scheme: dark) {
              :root { --text: #ddd; --page: #1b1b1b; --line: #444; --soft: #262626; }
              figure svg { filter: invert(0.9) hue-rotate(180deg); }
            }
            body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
                   max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
            h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
            figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; }
            table { border-collapse: collapse; margin: 0.5rem 0; font-size: 0.9em; }
            .wide { overflow-x: auto; }
            th, td { border-bottom: 1px solid var(--line); padding: 0.15rem 0.7rem; text-align: left; }
            .n { text-align: right; font-variant-numeric: tabular-nums; }
            th { background: var(--soft); }
            .synthetic { border-left: 4px solid #D55E00; padding: 0.2rem 0.8rem; background: var(--soft); }
            """;

    private final StringBuilder html = new StringBuilder();

    private HtmlPage() {}

    /** @param drawings drawings by the charts' names */
    static String of(Report report, Map<String, String> drawings) {
        HtmlPage page = new HtmlPage();
        page.head(report);
        for (Section section : report.sections()) {
            page.section(section, drawings);
        }
        page.rawRows(report.rows());
        page.html.append("</body>\n</html>\n");
        return page.html.toString();
    }

    private void head(Report report) {
        html.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n")
                .append("<meta name=\"viewport\" content=\"width=device-width\"/>\n");
        element("title", report.title());
        html.append("<style>\n").append(STYLE).append("</style>\n</head>\n<body>\n");
        element("h1", report.title());
        if (report.isSynthetic()) {
            html.append("<p class=\"synthetic\"><strong>Synthetic:</strong> the input was "
                    + "generated with the parameters below.</p>\n");
        }
        html.append("<table>\n");
        for (Report.Fact fact : report.facts()) {
            html.append("<tr><th>").append(escaped(fact.name())).append("</th><td>");
            html.append(escaped(fact.value())).append("</td></tr>\n");
        }
        html.append("</table>\n");
    }

    private void section(Section section, Map<String, String> drawings) {
        element("h2", section.title());
        if (!section.text().isEmpty()) {
            element("p", section.text());
        }
        for (Chart chart : section.charts()) {
            html.append("<figure id=\"chart-").append(chart.name()).append("\">\n");
            html.append(drawings.get(chart.name())).append("</figure>\n");
            chart.panels().forEach(panel -> points(chart, panel));
        }
        section.tables().forEach(this::rows);
    }

    /** Adds the points of a panel: a row for each x, a column for each line. */
    private void points(Chart chart, String panel) {
        List<Line> lines = chart.lines().stream()
                .filter(line -> line.panel().equals(panel))
                .toList();
        Map<String, String[]> rows = new LinkedHashMap<>();
        for (int column = 0; column < lines.size(); column++) {
            for (Line.Point point : lines.get(column).points()) {
                rows.computeIfAbsent(point.label(), x -> new String[lines.size()])[column] = Numbers.text(point.y());
            }
        }
        String title = (panel.isEmpty() ? "" : panel + ": ") + chart.y().title();
        open(title, rows.size());
        html.append("<tr><th>").append(escaped(chart.x().title())).append("</th>");
        lines.forEach(line -> cell("th", true, line.name()));
        html.append("</tr>\n");
        rows.forEach((x, values) -> {
            html.append("<tr><td>").append(escaped(x)).append("</td>");
            for (String value : values) {
                cell("td", true, value == null ? "–" : value);
            }
            html.append("</tr>\n");
        });
        close();
    }

    private void rows(Table table) {
        open(table.name(), table.rows().size());
        html.append("<tr>");
        table.columns().forEach(column -> cell("th", table.isNumeric(column), column));
        html.append("</tr>\n");
        for (ObjectNode row : table.rows()) {
            html.append("<tr>");
            table.columns().forEach(column -> cell("td", table.isNumeric(column), Table.shown(row.path(column))));
            html.append("</tr>\n");
        }
        close();
    }

    private void open(String title, int rows) {
        html.append("<details")
                .append(rows <= OPEN_ROWS ? " open=\"open\"" : "")
                .append("><summary>");
        html.append(escaped(title)).append("</summary>\n<div class=\"wide\"><table>\n");
    }

    private void close() {
        html.append("</table></div></details>\n");
    }

    private void rawRows(List<Table> tables) {
        if (tables.isEmpty()) {
            return;
        }
        element("h2", "Raw rows");
        html.append("<ul>\n");
        for (Table table : tables) {
            String name = escaped(table.name());
            html.append("<li>").append(name).append(": <a href=\"").append(name).append(".csv\">CSV</a>, <a href=\"");
            html.append(name)
                    .append(".json\">JSON</a>, ")
                    .append(table.rows().size())
                    .append(" rows</li>\n");
        }
        html.append("</ul>\n");
    }

    private void cell(String tag, boolean isNumber, String text) {
        html.append('<').append(tag).append(isNumber ? " class=\"n\">" : ">");
        html.append(escaped(text)).append("</").append(tag).append('>');
    }

    private void element(String tag, String text) {
        html.append('<')
                .append(tag)
                .append('>')
                .append(escaped(text))
                .append("</")
                .append(tag)
                .append(">\n");
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
