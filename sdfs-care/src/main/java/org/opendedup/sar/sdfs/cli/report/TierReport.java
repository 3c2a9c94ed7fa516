package org.opendedup.sar.sdfs.cli.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.raw.MigrationPolicy;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.sdfs.jmx.FastTierFigures;
import org.opendedup.sar.volume.raw.FastTier.FileStatus;

/**
 * The state of the fast tier, as {@code tier status} and {@code tier attach} show it. The names are stable.
 *
 * @param attached whether it was attached by this command; null if the command only shows
 * @param location folder on the SSD; empty without one
 * @param lost paths of lost files
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record TierReport(
        @Nullable Boolean attached, @JsonUnwrapped FastTierFigures figures, String location, List<String> lost) {
    public static TierReport of(
            @Nullable Boolean attached, FastTierFigures figures, String location, List<String> lost) {
        return new TierReport(
                attached, figures, location, lost.stream().map(Printable::line).toList());
    }

    /**
     * Where a file is, or new files of a folder are stored, as {@code tier explain} shows it.
     *
     * @param type file or folder
     * @param newFiles where new files there are stored first
     * @param file what is known of a file; null for a folder
     */
    public record Explained(
            String type,
            String newFiles,
            @JsonUnwrapped @Nullable File file) {
        public static Explained of(String placement, @Nullable FileStatus file, RawSettings settings) {
            return new Explained(
                    file == null ? "folder" : "file", placement, file == null ? null : File.of(file, settings));
        }
    }

    /**
     * Where a file is, and when it is migrated.
     *
     * @param changedBytes bytes that were changed since it was migrated, and are on the fast tier
     */
    public record File(
            String place,
            long bytes,
            String accessed,
            boolean inUse,
            boolean pinned,
            boolean small,
            int highPercent,
            long journalSeconds,
            String migrationPolicy,
            long changedBytes) {
        private static File of(FileStatus file, RawSettings settings) {
            return new File(
                    Json.word(file.place()),
                    file.bytes(),
                    file.accessedMs() == 0 ? "" : JobReport.time(Instant.ofEpochMilli(file.accessedMs())),
                    file.inUse(),
                    file.pinned(),
                    file.bytes() <= MigrationPolicy.SMALL_BYTES,
                    settings.highPercent(),
                    settings.copyAfterS(),
                    settings.rule().toString(),
                    file.changedBytes());
        }
    }
}
