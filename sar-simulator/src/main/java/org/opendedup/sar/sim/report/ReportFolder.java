package org.opendedup.sar.sim.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The folder of a report: {@code report.html}, {@code CHART.svg}, {@code ROWS.json} and {@code ROWS.csv}. */
public final class ReportFolder {
    private final Path folder;

    /** Makes the folder, if it does not exist: a command that can't write its report should fail ahead of its work. */
    public ReportFolder(Path folder) throws IOException {
        this.folder = Files.createDirectories(folder);
    }

    /** Writes a report over the last one. Other files stay. */
    public void write(Report report) throws IOException {
        Map<String, String> drawings = new LinkedHashMap<>();
        for (Section section : report.sections()) {
            for (Chart chart : section.charts()) {
                if (drawings.put(chart.name(), SvgChart.draw(chart)) != null) {
                    throw new IllegalArgumentException("two charts are named " + chart.name());
                }
            }
        }
        for (Map.Entry<String, String> drawing : drawings.entrySet()) {
            Files.writeString(folder.resolve(drawing.getKey() + ".svg"), drawing.getValue());
        }
        for (Table table : report.rows()) {
            Files.writeString(folder.resolve(table.name() + ".json"), table.json());
        }
        writeCsv(report.rows());
        Files.writeString(folder.resolve("report.html"), HtmlPage.of(report, drawings));
    }

    /** Writes only the rows, as {@code ROWS.csv}. */
    public void writeCsv(List<Table> tables) throws IOException {
        for (Table table : tables) {
            Files.writeString(folder.resolve(table.name() + ".csv"), table.csv());
        }
    }
}
