package org.opendedup.sar.sdfs.jmx;

import java.util.Objects;
import org.opendedup.sar.common.Figure;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.volume.raw.FastTier;

/**
 * The figures of the fast tier for new files: what {@code tier status} and {@code stats} show, and the attributes of
 * {@code org.opendedup.sar:type=FastTier,volume=<volume>}. The names are stable.
 */
public record FastTierFigures(
        @Figure(
                value = "Where new files are stored first, except in folders that say otherwise: sar or tddfs",
                unit = "name")
        String mode,

        @Figure(value = "Why the fast tier cannot be used; empty if it can, or if the volume has none", unit = "text")
        String absent,

        @Figure(
                value = "What the fast tier does not answer; empty if it answers, or if the volume has none. The"
                        + " other figures are as they were last seen meanwhile",
                unit = "text")
        String hanging,

        @Figure(value = "Largest number of bytes of raw files; 0 without a fast tier for new files", unit = "bytes")
        long rawCapacityBytes,

        @Figure(value = "Bytes that raw files and changed bytes of others take on the fast tier", unit = "bytes")
        long rawUsedBytes,

        @Figure(value = "Files that lie whole on the fast tier", unit = "files")
        long rawFiles,

        @Figure(
                value = "Files in chunks of which the fast tier has what was written since they were migrated",
                unit = "files")
        long changedFiles,

        @Figure(value = "Bytes that this takes there", unit = "bytes")
        long changedBytes,

        @Figure(
                value = "Files of which a lost fast tier loses bytes: raw files that are not in chunks as well, and"
                        + " those with changed bytes",
                unit = "files")
        long onlyThereFiles,

        @Figure(value = "Bytes of these", unit = "bytes") long onlyThereBytes,

        @Figure(value = "Raw files that are not migrated", unit = "files")
        long pinnedFiles,

        @Figure(value = "Raw files that are open now", unit = "files")
        long rawFilesInUse,

        @Figure(value = "Whether new files can become raw now", unit = "yes or no")
        boolean roomForNewFiles,

        @Figure(value = "Use of the capacity from which files are migrated", unit = "percent")
        int highPercent,

        @Figure(value = "Use of the capacity at which migration ends", unit = "percent")
        int lowPercent,

        @Figure(
                value = "Seconds without use after which a raw file is also stored in chunks; 0 if it is not",
                unit = "seconds")
        int journalSeconds,

        @Figure(value = "Which raw files are migrated first: lru or mixed", unit = "name")
        String migrationPolicy,

        @Figure(value = "Raw files stored in chunks since the volume was mounted", unit = "files", counter = true)
        long copiedFiles,

        @Figure(value = "Bytes of these", unit = "bytes", counter = true)
        long copiedBytes,

        @Figure(
                value = "Those of them that were stored at idle time, before their migration was needed",
                unit = "files",
                counter = true)
        long aheadFiles,

        @Figure(value = "Bytes of these", unit = "bytes", counter = true)
        long aheadBytes,

        @Figure(
                value = "Files migrated since the volume was mounted, or migrated again, with changed bytes",
                unit = "files",
                counter = true)
        long migratedFiles,

        @Figure(value = "Bytes of these", unit = "bytes", counter = true)
        long migratedBytes,

        @Figure(
                value = "Files whose bytes were only on the fast tier, which does not have them any more",
                unit = "files")
        long lostFiles) {
    public static FastTierFigures of(FastTier.Summary summary, FastTier.Status status, long lostFiles) {
        RawSettings settings = summary.settings();
        boolean hasNone = !settings.isEnabled() && !summary.hasFiles();
        return new FastTierFigures(
                settings.placement().toString(),
                hasNone ? "" : Printable.line(Objects.toString(summary.absent(), "")),
                Objects.toString(summary.hanging(), ""),
                settings.capacityBytes(),
                status.usedBytes(),
                status.files(),
                status.changedFiles(),
                status.changedBytes(),
                status.onlyThereFiles(),
                status.onlyThereBytes(),
                status.pinned(),
                status.inUse(),
                status.room(),
                settings.highPercent(),
                settings.lowPercent(),
                settings.copyAfterS(),
                settings.rule().toString(),
                status.copiedFiles(),
                status.copiedBytes(),
                status.aheadFiles(),
                status.aheadBytes(),
                status.migratedFiles(),
                status.migratedBytes(),
                lostFiles);
    }
}
