package org.opendedup.sar.sdfs.cli.report;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.opendedup.sar.check.DamagedFile;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.check.TableRebuild;
import org.opendedup.sar.common.Printable;

/** What a check of a volume found, as text and as values for JSON. */
public final class CheckText {
    private static final String INDENT = "        ";
    /** Containers of a finding that the text names; JSON has more. */
    private static final int MAX_NAMED = 10;

    private CheckText() {}

    /** Returns the report for people: a paragraph for each finding, and a line that sums up. */
    public static String of(String volume, StoredVolume.Report report) {
        StringBuilder text = new StringBuilder();
        for (Finding finding : report.findings()) {
            text.append(String.format("%-8s", finding.severity()))
                    .append(Printable.line(finding.what()))
                    .append(".\n");
            if (finding.containers().size() > 1) {
                text.append(INDENT).append("Containers: ").append(containers(finding.containers()));
            }
            finding.files().forEach(file -> append(file, text));
            if (!finding.mend().isEmpty()) {
                text.append(INDENT)
                        .append("To mend it: ")
                        .append(finding.mend())
                        .append('\n');
            }
        }
        return text.append(summary(volume, report)).append('\n').toString();
    }

    private static String containers(List<Long> containers) {
        String first = containers.stream().limit(MAX_NAMED).map(String::valueOf).collect(Collectors.joining(", "));
        return first + (containers.size() > MAX_NAMED ? ", ... (--json names them)" : "") + "\n";
    }

    private static void append(DamagedFile file, StringBuilder text) {
        String name = file.paths().isEmpty()
                ? "inode " + file.inode() + " (no name was found)"
                : file.paths().stream().map(Printable::line).collect(Collectors.joining(" = "));
        String ranges = file.ranges().stream()
                .map(range -> range.from() + "-" + (range.to() - 1))
                .collect(Collectors.joining(", "));
        text.append(INDENT)
                .append("Damaged: ")
                .append(name)
                .append(": ")
                .append(file.bytes())
                .append(" bytes: ")
                .append(ranges)
                .append('\n');
    }

    private static String summary(String volume, StoredVolume.Report report) {
        long losses = count(report, Finding.Severity.LOSS);
        long defects = count(report, Finding.Severity.DEFECT);
        long files = report.findings().stream()
                .flatMap(finding -> finding.files().stream())
                .map(DamagedFile::inode)
                .distinct()
                .count();
        String checked = volume + ": " + report.containers() + (report.containers() == 1 ? " container" : " containers")
                + " checked; ";
        if (losses + defects == 0) {
            return checked + "no defect was found.";
        }
        return checked + losses + " losses and " + defects + " other defects were found; " + files
                + " files are damaged. All other bytes can be read.";
    }

    private static long count(StoredVolume.Report report, Finding.Severity severity) {
        return report.findings().stream()
                .filter(finding -> finding.severity() == severity)
                .count();
    }

    /** Returns what was done to the container table, for people. */
    public static String of(TableRebuild.Report rebuilt) {
        if (rebuilt.changes() == 0) {
            return "The container table was right; nothing was changed.\n";
        }
        StringBuilder text = new StringBuilder("The container table was made anew from the packs: ")
                .append(rebuilt.containers())
                .append(" containers, ")
                .append(rebuilt.changes())
                .append(" records changed. No pack was changed.\n");
        append(rebuilt.kept(), "containers were not found; their old entries stay.\n", text);
        append(
                rebuilt.notFound(),
                "containers were not found and had no entry; their chunks are marked as lost.\n",
                text);
        append(rebuilt.missingChunks(), "chunks are not in their containers; they are marked as lost.\n", text);
        append(rebuilt.strays(), "containers belong to no file; the next collection gives their space back.\n", text);
        append(rebuilt.foreign(), "of these have other chunks than this volume: of another history.\n", text);
        return text.toString();
    }

    private static void append(long count, String what, StringBuilder text) {
        if (count > 0) {
            text.append(INDENT).append(count).append(' ').append(what);
        }
    }

    /** Returns the report as values for JSON. */
    public static Map<String, Object> values(StoredVolume.Report report) {
        var values = new LinkedHashMap<String, Object>();
        values.put("sound", !report.hasDefects());
        values.put("containers", report.containers());
        values.put("findings", report.findings().stream().map(CheckText::values).toList());
        return values;
    }

    private static Map<String, Object> values(Finding finding) {
        var values = new LinkedHashMap<String, Object>();
        values.put("severity", lower(finding.severity()));
        values.put("kind", lower(finding.kind()));
        values.put("what", finding.what());
        values.put("containers", finding.containers());
        values.put("files", finding.files().stream().map(CheckText::values).toList());
        values.put("mend", finding.mend());
        return values;
    }

    private static String lower(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static Map<String, Object> values(DamagedFile file) {
        var values = new LinkedHashMap<String, Object>();
        values.put("inode", file.inode());
        values.put("paths", file.paths());
        values.put("bytes", file.bytes());
        values.put(
                "ranges",
                file.ranges().stream()
                        .map(range -> Map.of("from", range.from(), "to", range.to()))
                        .toList());
        return values;
    }

    /** Returns what was done to the container table as values for JSON. */
    public static Map<String, Object> values(TableRebuild.Report rebuilt) {
        var values = new LinkedHashMap<String, Object>();
        values.put("containers", rebuilt.containers());
        values.put("kept", rebuilt.kept());
        values.put("notFound", rebuilt.notFound());
        values.put("missingChunks", rebuilt.missingChunks());
        values.put("strays", rebuilt.strays());
        values.put("foreign", rebuilt.foreign());
        values.put("changes", rebuilt.changes());
        return values;
    }
}
