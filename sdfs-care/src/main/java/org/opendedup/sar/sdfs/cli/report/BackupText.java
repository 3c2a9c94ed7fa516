package org.opendedup.sar.sdfs.cli.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.DamagedFile;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.metadata.backup.Backup;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.backup.MetadataReport;
import org.opendedup.sar.volume.backup.NewerContainers;

/** Backups of metadata, and what a restore of one found, as reports and as text. */
public final class BackupText {
    /** Files that the text names; the JSON has all that the report has. */
    private static final int SHOWN_FILES = 20;

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT);

    private BackupText() {}

    /**
     * A backup. The names are stable.
     *
     * @param olderThanCollection whether garbage was collected after the backup
     * @param folder where it was made just now; null in a list
     * @param mended files there that were damaged, and were copied again; null in a list
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record One(
            long number,
            String made,
            long epoch,
            long bytes,
            int files,
            boolean olderThanCollection,
            @Nullable String folder,
            @Nullable List<String> mended) {
        public static One of(Backup backup, boolean olderThanCollection) {
            return of(backup, olderThanCollection, null, null);
        }

        public static One of(MetadataBackups.Copy copy) {
            return of(copy.backup(), false, copy.folder().toString(), copy.mended());
        }

        private static One of(Backup backup, boolean older, @Nullable String folder, @Nullable List<String> mended) {
            return new One(
                    backup.number(),
                    time(backup.origin().createdNs()),
                    backup.origin().epoch().number(),
                    backup.bytes(),
                    backup.files().size(),
                    older,
                    folder,
                    mended);
        }

        /** Returns one line. */
        public String line() {
            return String.format(
                    Locale.ROOT,
                    "%6s  %s  %10s%s",
                    number,
                    made,
                    ByteSize.rounded(bytes),
                    olderThanCollection
                            ? "  garbage was collected since: files deleted or changed after it may miss bytes"
                            : "");
        }
    }

    /**
     * The backups in a folder. The names are stable.
     *
     * @param failures backups that failed since the volume was mounted; null if it is not
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record All(
            String folder,
            List<String> findings,
            List<One> backups,
            @Nullable Long failures) {
        public static All of(MetadataBackups.Automatic automatic, @Nullable Long failures) {
            return new All(
                    automatic.folder().toString(),
                    automatic.findings(),
                    automatic.backups().stream()
                            .map(backup -> One.of(backup, automatic.isOlderThanCollection(backup)))
                            .toList(),
                    failures);
        }

        public String text() {
            var text = new StringBuilder("Backups in " + folder + ":");
            backups.forEach(backup -> text.append('\n').append(backup.line()));
            text.append(backups.isEmpty() ? " none" : "");
            findings.forEach(finding -> text.append("\nDamaged: ").append(finding));
            if (failures != null && failures > 0) {
                text.append("\n" + failures + " failed since the volume was mounted; the log says why.");
            }
            return text.toString();
        }
    }

    /** What a restore found. The names are stable; the times are empty if there is nothing newer. */
    public record Restored(
            String oldDatabase,
            long containers,
            long movedContainers,
            long missingContainers,
            Newer newer,
            long damagedFiles,
            List<DamagedFile> files,
            List<String> lost) {
        /** See {@link NewerContainers}. */
        public record Newer(long containers, long bytes, String oldest, String newest) {}

        public static Restored of(MetadataReport report) {
            NewerContainers newer = report.newer();
            boolean hasNone = newer.containers() == 0;
            return new Restored(
                    Objects.toString(report.oldDatabase(), ""),
                    report.containers(),
                    report.movedContainers(),
                    report.missingContainers(),
                    new Newer(
                            newer.containers(),
                            newer.bytes(),
                            hasNone ? "" : time(newer.oldestNs()),
                            hasNone ? "" : time(newer.newestNs())),
                    report.damagedFiles().size() + report.moreDamagedFiles(),
                    report.damagedFiles(),
                    report.lost());
        }
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
