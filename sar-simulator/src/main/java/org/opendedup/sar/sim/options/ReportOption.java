package org.opendedup.sar.sim.options;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sim.report.ReportFolder;
import picocli.CommandLine.Option;

/** {@code --report}: writes the result as a report too. */
public final class ReportOption {
    @Option(
            names = "--report",
            paramLabel = "FOLDER",
            description = "Write report.html to this folder, and the rows as JSON and CSV and the charts as SVG.")
    @Nullable
    Path report;

    /**
     * Returns the folder, or null if the option is not given.
     *
     * @throws IOException if the folder cannot be used
     */
    public @Nullable ReportFolder folder() throws IOException {
        return report == null ? null : new ReportFolder(report);
    }
}
