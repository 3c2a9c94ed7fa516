package org.opendedup.sar.sdfs.cli.report;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.check.TableRebuild;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.volume.care.OfflineCheck;

/** What a check of a volume found, as text and as values for JSON. */
public final class CheckText {
    private static final String INDENT = "        ";
    /** Containers of a finding that the text names; JSON has more. */
    private static final int MAX_NAMED = 10;

    private static final String FINDINGS = "findings";
    private static final String SEVERITY = "severity";
    private static final String FILES = "files";
    private static final String INODE = "inode";

    private CheckText() {}

    /** Returns the report for people: a paragraph for each finding, and a line that sums up. */
    public static String of(String volume, StoredVolume.Report report) {
        return of(volume, values(report));
    }

    /**
     * Returns the report for people.
     *
     * @param report as {@link #values(StoredVolume.Report)} returns it
     */
    public static String of(String volume, Map<String, Object> report) {
        StringBuilder text = new StringBuilder();
        for (Map<String, Object> finding : Json.objects(report, FINDINGS)) {
            text.append(String.format("%-8s", text(finding, SEVERITY).toUpperCase(Locale.ROOT)))
                    .append(Printable.line(text(finding, "what")))
                    .append(".\n");
            List<?> containers = (List<?>) finding.getOrDefault("containers", List.of());
            if (containers.size() > 1) {
                text.append(INDENT).append("Containers: ").append(containers(containers));
            }
            append(Json.objects(finding, FILES), text);
            if (!text(finding, "mend").isEmpty()) {
                text.append(INDENT)
                        .append("To mend it: ")
                        .append(text(finding, "mend"))
                        .append('\n');
            }
        }
        return text.append(summary(volume, report)).append('\n').toString();
    }

    private static String text(Map<String, Object> values, String key) {
        return String.valueOf(values.get(key));
    }

    private static String containers(List<?> containers) {
        String first = containers.stream().limit(MAX_NAMED).map(String::valueOf).collect(Collectors.joining(", "));
        return first + (containers.size() > MAX_NAMED ? ", ... (--json names them)" : "") + "\n";
    }

    /** @param files as {@link FileDamageText#values} returns them */
    static void append(List<Map<String, Object>> files, StringBuilder text) {
        files.forEach(file -> text.append(INDENT)
                .append("Damaged: ")
                .append(FileDamageText.line(file))
                .append('\n'));
    }

    private static String summary(String volume, Map<String, Object> report) {
        long losses = count(report, Finding.Severity.LOSS);
        long defects = count(report, Finding.Severity.DEFECT);
        long files = Json.objects(report, FINDINGS).stream()
                .flatMap(finding -> Json.objects(finding, FILES).stream())
                .map(file -> Json.number(file, INODE))
                .distinct()
                .count();
        long containers = Json.number(report, "containers");
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

    private static long count(Map<String, Object> report, Finding.Severity severity) {
        return Json.objects(report, FINDINGS).stream()
                .filter(finding -> text(finding, SEVERITY).equals(lower(severity)))
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

    /** Returns the report as values for JSON. */
    public static Map<String, Object> values(StoredVolume.Report report) {
        var values = new LinkedHashMap<String, Object>();
        values.put("sound", !report.hasDefects());
        values.put("containers", report.containers());
        values.put(FINDINGS, report.findings().stream().map(CheckText::values).toList());
        return values;
    }

    private static Map<String, Object> values(Finding finding) {
        var values = new LinkedHashMap<String, Object>();
        values.put(SEVERITY, lower(finding.severity()));
        values.put("kind", lower(finding.kind()));
        values.put("what", finding.what());
        values.put("containers", finding.containers());
        values.put(FILES, finding.files().stream().map(FileDamageText::values).toList());
        values.put("mend", finding.mend());
        return values;
    }

    private static String lower(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
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
        values.put("unreadablePacks", rebuilt.unreadablePacks());
        values.put("changes", rebuilt.changes());
        return values;
    }
}
