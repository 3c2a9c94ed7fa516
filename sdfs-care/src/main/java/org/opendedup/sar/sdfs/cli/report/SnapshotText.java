package org.opendedup.sar.sdfs.cli.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.volume.diff.DiffReport;

/** Formats the output of the snapshot commands for people. */
public final class SnapshotText {
    private static final int NAME_WIDTH_LEAST = 8;
    private static final String WOULD_DELETE = "Would delete ";

    private SnapshotText() {}

    /** Returns all snapshots as a table, and when the next one is made. */
    public static String all(String volume, SnapshotReport.All all) {
        List<SnapshotReport.One> snapshots = all.snapshots();
        var text = new StringBuilder(volume).append(": ");
        text.append(
                snapshots.isEmpty()
                        ? "no snapshots"
                        : snapshots.size() + (snapshots.size() == 1 ? " snapshot" : " snapshots"));
        if (all.beingFreed() > 0) {
            text.append("; ").append(all.beingFreed()).append(" deleted, of which space is being freed");
        }
        if (snapshots.size() > 1 && all.freesBytes() != SnapshotReport.UNKNOWN) {
            text.append("; deleting all frees ").append(ByteSize.rounded(all.freesBytes()));
        }
        text.append('\n').append(table(snapshots));
        text.append("schedule  ").append(all.schedule());
        text.append(all.next().isEmpty() ? "" : "; next at " + all.next());
        return text.append("\nkeep      ").append(all.keep()).toString();
    }

    private static String table(List<SnapshotReport.One> snapshots) {
        if (snapshots.isEmpty()) {
            return "";
        }
        int width = snapshots.stream()
                .mapToInt(one -> Printable.line(one.snapshot()).length())
                .reduce(NAME_WIDTH_LEAST, Math::max);
        String format = "%-" + width + "s  %-25s  %10s  %10s  %10s  %s";
        var text = new StringBuilder();
        text.append(String.format(Locale.ROOT, format, "NAME", "MADE", "FILES", "BYTES", "FREES", "")
                        .stripTrailing())
                .append('\n');
        for (SnapshotReport.One one : snapshots) {
            String line = String.format(
                    Locale.ROOT,
                    format,
                    Printable.line(one.snapshot()),
                    one.created(),
                    one.files(),
                    ByteSize.rounded(one.logicalBytes()),
                    one.freesBytes() == SnapshotReport.UNKNOWN ? "-" : ByteSize.rounded(one.freesBytes()),
                    notes(one));
            text.append(line.stripTrailing()).append('\n');
        }
        return text.toString();
    }

    private static String notes(SnapshotReport.One one) {
        var notes = new ArrayList<String>();
        if (!one.origin().isEmpty()) {
            notes.add("received");
        }
        if (one.scheduled()) {
            notes.add("by the schedule");
        }
        if (!one.heldUntil().isEmpty()) {
            notes.add("held until " + one.heldUntil());
        }
        return String.join(", ", notes);
    }

    /**
     * Returns how many paths differ.
     *
     * @param to empty: the present state
     */
    public static String differing(long count, String from, String to, DiffReport report) {
        String states = from + " and " + (to.isEmpty() ? "now" : to);
        if (count == 0) {
            return "No path differs between " + states + ".";
        }
        return String.format(
                Locale.ROOT,
                "%d %s between %s: %d new, %d deleted, %d modified, %d renamed.%s",
                count,
                count == 1 ? "path differs" : "paths differ",
                states,
                report.added(),
                report.deleted(),
                report.modified(),
                report.renamed(),
                report.sorted() ? "" : " They are not in the order of paths, because they are too many.");
    }

    /** Returns what a deletion would do. */
    public static String deletion(SnapshotReport.Deletion deletion) {
        List<SnapshotReport.One> deleted = deletion.deleted();
        return lines(WOULD_DELETE, deleted, deletion.held())
                .append(WOULD_DELETE)
                .append(deleted.size())
                .append(deleted.size() == 1 ? " snapshot" : " snapshots")
                .append(frees(deletion.freesBytes()))
                .toString();
    }

    /** Returns what a pruning did, or would do. */
    public static String pruned(SnapshotReport.Pruned pruned) {
        String deleted = pruned.dryRun() ? WOULD_DELETE : "Deleted ";
        int all = pruned.deleted().size() + pruned.held().size() + pruned.kept();
        return lines(deleted, pruned.deleted(), pruned.held())
                .append(deleted)
                .append(pruned.deleted().size() + " of " + all + " snapshots, by the rules " + pruned.keep())
                .append(frees(pruned.freesBytes()))
                .toString();
    }

    private static StringBuilder lines(String what, List<SnapshotReport.One> deleted, List<SnapshotReport.One> held) {
        var text = new StringBuilder();
        deleted.forEach(one -> text.append(what)
                .append(Printable.line(one.snapshot()))
                .append(", made ")
                .append(one.created())
                .append('\n'));
        held.forEach(one -> text.append("Held until ")
                .append(one.heldUntil())
                .append(": ")
                .append(Printable.line(one.snapshot()))
                .append('\n'));
        return text;
    }

    private static String frees(long bytes) {
        return bytes == SnapshotReport.UNKNOWN ? "" : "; that frees " + ByteSize.rounded(bytes);
    }
}
