package org.opendedup.sar.sdfs.cli.report;

import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.metadata.backup.Backup;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.backup.MetadataReport;
import org.opendedup.sar.volume.backup.NewerContainers;

/** Backups of metadata, and what a restore of one found, as values and as text. */
public final class BackupText {
    /** Files that the text names; the JSON has all that the report has. */
    private static final int SHOWN_FILES = 20;

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT);

    private BackupText() {}

    /** @param olderThanCollection whether garbage was collected after the backup */
    public static Map<String, Object> values(Backup backup, boolean olderThanCollection) {
        var values = new LinkedHashMap<String, Object>();
        values.put("number", backup.number());
        values.put("made", time(backup.origin().createdNs()));
        values.put("epoch", backup.origin().epoch().number());
        values.put("bytes", backup.bytes());
        values.put("files", backup.files().size());
        values.put("olderThanCollection", olderThanCollection);
        return values;
    }

    public static Map<String, Object> values(MetadataBackups.Automatic automatic) {
        List<Object> all = new ArrayList<>();
        for (Backup backup : automatic.backups()) {
            all.add(values(backup, automatic.isOlderThanCollection(backup)));
        }
        var values = new LinkedHashMap<String, Object>();
        values.put("folder", automatic.folder().toString());
        values.put("findings", automatic.findings());
        values.put("backups", all);
        return values;
    }

    /** Returns a list of backups as text, from its values. */
    public static String list(Map<String, Object> values) {
        var text = new StringBuilder("Backups in " + values.get("folder") + ":");
        List<Map<String, Object>> all = Json.objects(values, "backups");
        all.forEach(backup -> text.append('\n').append(line(backup)));
        if (all.isEmpty()) {
            text.append(" none");
        }
        for (Object finding : (List<?>) values.getOrDefault("findings", List.of())) {
            text.append("\nDamaged: ").append(finding);
        }
        return text.toString();
    }

    /** Returns a backup as one line, from its values. */
    public static String line(Map<String, Object> values) {
        return String.format(
                Locale.ROOT,
                "%6s  %s  %10s%s",
                values.get("number"),
                values.get("made"),
                ByteSize.rounded(Json.number(values, "bytes")),
                Boolean.TRUE.equals(values.get("olderThanCollection"))
                        ? "  garbage was collected since: files deleted or changed after it may miss bytes"
                        : "");
    }

    public static Map<String, Object> values(MetadataReport report) {
        NewerContainers newer = report.newer();
        var newerValues = new LinkedHashMap<String, Object>();
        newerValues.put("containers", newer.containers());
        newerValues.put("bytes", newer.bytes());
        newerValues.put("oldest", newer.containers() == 0 ? "" : time(newer.oldestNs()));
        newerValues.put("newest", newer.containers() == 0 ? "" : time(newer.newestNs()));
        var values = new LinkedHashMap<String, Object>();
        Path old = report.oldDatabase();
        values.put("oldDatabase", old == null ? "" : old.toString());
        values.put("containers", report.containers());
        values.put("movedContainers", report.movedContainers());
        values.put("missingContainers", report.missingContainers());
        values.put("newer", newerValues);
        values.put("damagedFiles", report.damagedFiles().size() + report.moreDamagedFiles());
        values.put("files", report.damagedFiles());
        values.put("lost", report.lost());
        return values;
    }

    /**
     * @param accept how the replaced metadata are given up, as the end of a sentence
     * @param hasFiles false for a volume of chunks: only its client knows its files
     */
    public static String text(String accept, boolean hasFiles, MetadataReport report) {
        var text = new StringBuilder();
        boolean hasOld = report.oldDatabase() != null;
        text.append(hasOld ? "The replaced database is in " + report.oldDatabase() : "There was no database.")
                .append('\n');
        text.append("Containers: ")
                .append(report.containers())
                .append("; found in a new place: ")
                .append(report.movedContainers())
                .append("; missing: ")
                .append(report.missingContainers())
                .append('\n');
        NewerContainers newer = report.newer();
        if (newer.containers() == 0) {
            text.append("Nothing in the packs is newer than these metadata.\n");
        } else {
            text.append("Newer than these metadata: ")
                    .append(newer.containers())
                    .append(" containers with ")
                    .append(ByteSize.rounded(newer.bytes()))
                    .append(", in packs last written from ")
                    .append(time(newer.oldestNs()))
                    .append(" to ")
                    .append(time(newer.newestNs()))
                    .append(".\nThey are kept. ")
                    .append(hasFiles ? "Files that were written" : "Chunks that were stored")
                    .append(" after the metadata are not in the volume.\n");
        }
        text.append("Garbage is not collected, ")
                .append(hasOld ? "so that you can go back to the replaced database, " : "")
                .append("until you call: ")
                .append(accept)
                .append('\n');
        report.lost().forEach(lost -> text.append("Lost: ").append(lost).append('\n'));
        if (hasFiles) {
            files(report, text);
        }
        return text.toString();
    }

    private static void files(MetadataReport report, StringBuilder text) {
        text.append("Files with bytes that cannot be read: ")
                .append(report.damagedFiles().size() + report.moreDamagedFiles())
                .append('\n');
        CheckText.append(report.damagedFiles().stream().limit(SHOWN_FILES).toList(), text);
        if (report.damagedFiles().size() > SHOWN_FILES) {
            text.append("  and more; --json names ")
                    .append(
                            report.moreDamagedFiles() == 0
                                    ? "them"
                                    : report.damagedFiles().size() + " of them")
                    .append('\n');
        }
    }

    private static String time(long ns) {
        return TIME.format(Instant.ofEpochSecond(0, ns).atZone(ZoneId.systemDefault()));
    }
}
