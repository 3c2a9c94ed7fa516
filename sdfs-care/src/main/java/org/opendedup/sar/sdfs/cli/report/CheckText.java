package org.opendedup.sar.sdfs.cli.report;

import java.util.List;
import java.util.stream.Collectors;
import org.opendedup.sar.check.DamagedFile;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.check.TableRebuild;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.volume.care.OfflineCheck;

/** What a check of a volume found, as a report and as text. */
public final class CheckText {
    private static final String INDENT = "        ";
    /** Containers of a finding that the text names; JSON has more. */
    private static final int MAX_NAMED = 10;

    private CheckText() {}

    /**
     * What a check found. The names are stable.
     *
     * @param sound whether everything is as it should be
     */
    public record Report(boolean sound, long containers, List<Finding> findings) {
        public static Report of(StoredVolume.Report found) {
            return new Report(!found.hasDefects(), found.containers(), found.findings());
        }
    }

    /** Returns the report for people: a paragraph for each finding, and a line that sums up. */
    public static String of(String volume, Report report) {
        StringBuilder text = new StringBuilder();
        for (Finding finding : report.findings()) {
            text.append(String.format("%-8s", finding.severity()))
                    .append(Printable.line(finding.what()))
                    .append(".\n");
            if (finding.containers().size() > 1) {
                text.append(INDENT).append("Containers: ").append(containers(finding.containers()));
            }
            append(finding.files(), text);
            if (!finding.mend().isEmpty()) {
                text.append(INDENT)
                        .append("To mend it: ")
                        .append(finding.mend())
                        .append('\n');
            }
        }
        return text.append(summary(volume, report)).append('\n').toString();
    }

    private static String containers(List<?> containers) {
        String first = containers.stream().limit(MAX_NAMED).map(String::valueOf).collect(Collectors.joining(", "));
        return first + (containers.size() > MAX_NAMED ? ", ... (--json names them)" : "") + "\n";
    }

    static void append(List<DamagedFile> files, StringBuilder text) {
        files.forEach(file -> text.append(INDENT)
                .append("Damaged: ")
                .append(FileDamageText.line(file))
                .append('\n'));
    }

    private static String summary(String volume, Report report) {
        long losses = count(report, Finding.Severity.LOSS);
        long defects = count(report, Finding.Severity.DEFECT);
        long files = report.findings().stream()
                .flatMap(finding -> finding.files().stream())
                .map(DamagedFile::inode)
                .distinct()
                .count();
        long containers = report.containers();
        String checked = volume + ": " + containers + (containers == 1 ? " container" : " containers") + " checked; ";
        if (losses + defects == 0) {
            return checked + "no defect was found.";
        }
        return checked + losses + (losses == 1 ? " loss and " : " losses and ") + defects
                + (defects == 1 ? " other defect" : " other defects") + " found; " + files
                + (files == 1 ? " damaged file is" : " damaged files are")
                + " named above. No chunk was read: damage within chunks is found by 'sdfscli " + volume
                + " scrub start --wait'.";
    }

    private static long count(Report report, Finding.Severity severity) {
        return report.findings().stream()
                .filter(finding -> finding.severity() == severity)
                .count();
    }

    /** Returns what was done to the container table, for people. */
    public static String of(TableRebuild.Report rebuilt) {
        if (rebuilt.changes() == 0 && rebuilt.unreadablePacks() == 0) {
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
                rebuilt.unreadablePacks() == 0
                        ? "containers were not found and had no entry; their chunks are marked as lost.\n"
                        : "containers were not found and had no entry.\n",
                text);
        append(
                rebuilt.unreadablePacks(),
                "packs could not be read completely; nothing was marked as lost for that. Look for the cause in the"
                        + " kernel's log, and call this again when the disk can be read.\n",
                text);
        append(rebuilt.missingChunks(), "chunks are not in their containers; they are marked as lost.\n", text);
        append(rebuilt.strays(), "containers belong to no file; the next collection gives their space back.\n", text);
        append(rebuilt.foreign(), "of these have other chunks than this volume: of another history.\n", text);
        return text.toString();
    }

    /** Returns what a repair did, but for the container table, for people: a line for each change. */
    public static String of(OfflineCheck.RepairReport repaired) {
        if (repaired.done().isEmpty()) {
            return "Nothing else had to be repaired.\n";
        }
        StringBuilder text = new StringBuilder("Repaired:\n");
        repaired.done()
                .forEach(
                        what -> text.append(INDENT).append(Printable.line(what)).append(".\n"));
        if (!repaired.quarantines().isEmpty()) {
            text.append("The records that were replaced are kept in the metadata location: ")
                    .append(String.join(", ", repaired.quarantines()))
                    .append(".\n");
        }
        return text.toString();
    }

    private static void append(long count, String what, StringBuilder text) {
        if (count > 0) {
            text.append(INDENT).append(count).append(' ').append(what);
        }
    }
}
