package org.opendedup.sar.sdfs.cli.report;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.metadata.RollbackEffect;

/**
 * What a rollback to a snapshot did, or would do; the figures are those of {@link RollbackEffect}. The names are
 * stable.
 *
 * @param kept the snapshot that was made of the state of before; empty if none was made
 * @param turned whether this took the place of a rollback that was not finished; then the figures are 0
 */
public record RollbackReport(
        boolean dryRun,
        String snapshot,
        String kept,
        boolean turned,
        long backFiles,
        long backBytes,
        long goneFiles,
        long goneBytes,
        long changedFiles,
        long changedBytes) {
    public static RollbackReport of(String snapshot, @Nullable String kept, RollbackEffect effect, boolean dryRun) {
        return new RollbackReport(
                dryRun,
                snapshot,
                kept == null ? "" : kept,
                false,
                effect.backFiles(),
                effect.backBytes(),
                effect.goneFiles(),
                effect.goneBytes(),
                effect.changedFiles(),
                effect.changedBytes());
    }

    /** Returns the report of a rollback that took the place of one that was not finished. */
    public static RollbackReport ofTurned(String snapshot) {
        return new RollbackReport(false, snapshot, "", true, 0, 0, 0, 0, 0, 0);
    }

    /** Returns it for people. */
    public String text(String volume) {
        String to = Printable.line(snapshot);
        if (turned) {
            return "Rolled " + volume + " back to " + to + ", in place of the rollback that was not finished.";
        }
        if (backFiles + goneFiles + changedFiles == 0) {
            return volume + " is as it was in " + to + (dryRun ? "." : "; nothing was done.");
        }
        String figures = String.format(Locale.ROOT, "%n  %-12s  %10s  %10s", "", "FILES", "BYTES")
                + line(dryRun ? "come back" : "came back", backFiles, backBytes)
                + line(dryRun ? "go" : "went", goneFiles, goneBytes)
                + line(dryRun ? "change" : "changed", changedFiles, changedBytes);
        String of = Printable.line(kept);
        if (dryRun) {
            return "A rollback of " + volume + " to " + to + ":" + figures
                    + (of.isEmpty()
                            ? "\nWhat was changed since the newest snapshot would be lost."
                            : "\nThe present state would be kept as a snapshot first, such as " + of + ".");
        }
        return "Rolled " + volume + " back to " + to + ":" + figures
                + (of.isEmpty()
                        ? ""
                        : "\nThe state of before is snapshot " + of + ". To go back there: sdfscli " + volume
                                + " snapshot rollback " + of + " --discard");
    }

    private static String line(String what, long files, long bytes) {
        return String.format(Locale.ROOT, "%n  %-12s  %10d  %10s", what, files, ByteSize.rounded(bytes));
    }
}
