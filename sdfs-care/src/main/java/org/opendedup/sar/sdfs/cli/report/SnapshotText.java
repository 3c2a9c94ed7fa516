package org.opendedup.sar.sdfs.cli.report;

import java.util.List;
import java.util.Locale;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.Printable;

/** Formats the output of the snapshot commands for people. */
public final class SnapshotText {
    private static final int NAME_WIDTH_LEAST = 8;

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
        String made = one.scheduled() ? "by the schedule" : "";
        String held = one.heldUntil().isEmpty() ? "" : "held until " + one.heldUntil();
        return made + (made.isEmpty() || held.isEmpty() ? "" : ", ") + held;
    }

    /** Returns what a pruning did, or would do. */
    public static String pruned(SnapshotReport.Pruned pruned) {
        String deleted = pruned.dryRun() ? "Would delete " : "Deleted ";
        var text = new StringBuilder();
        pruned.deleted()
                .forEach(one -> text.append(deleted)
                        .append(Printable.line(one.snapshot()))
                        .append(", made ")
                        .append(one.created())
                        .append('\n'));
        pruned.held()
                .forEach(one -> text.append("Held until ")
                        .append(one.heldUntil())
                        .append(": ")
                        .append(Printable.line(one.snapshot()))
                        .append('\n'));
        int all = pruned.deleted().size() + pruned.held().size() + pruned.kept();
        return text.append(deleted)
                .append(pruned.deleted().size() + " of " + all + " snapshots, by the rules " + pruned.keep())
                .toString();
    }
}
