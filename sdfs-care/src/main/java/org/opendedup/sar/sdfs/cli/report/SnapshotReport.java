package org.opendedup.sar.sdfs.cli.report;

import java.time.Instant;
import java.util.List;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.sdfs.config.KeepRules;
import org.opendedup.sar.sdfs.jobs.StartTimes;
import org.opendedup.sar.sdfs.snapshot.SnapshotCare;

/** What the snapshot commands report. The names are stable. */
public final class SnapshotReport {
    private SnapshotReport() {}

    /**
     * A snapshot.
     *
     * @param heldUntil until when it cannot be deleted; empty if it can
     * @param files inodes of the volume when it was made
     * @param logicalBytes bytes of the files of the volume then, without holes
     */
    public record One(
            String snapshot,
            long number,
            String created,
            String heldUntil,
            boolean scheduled,
            long files,
            long logicalBytes) {
        public static One of(SnapshotRecord record) {
            return new One(
                    record.name(),
                    record.number(),
                    time(record.createdMs()),
                    record.heldUntilMs() > System.currentTimeMillis() ? time(record.heldUntilMs()) : "",
                    record.isScheduled(),
                    record.files(),
                    record.logicalBytes());
        }

        private static String time(long ms) {
            return JobReport.time(Instant.ofEpochMilli(ms));
        }

        private static List<One> listOf(List<SnapshotRecord> records) {
            return records.stream().map(One::of).toList();
        }
    }

    /**
     * All snapshots of a volume, in the order in which they were made.
     *
     * @param beingFreed deleted ones of which something is not freed yet
     * @param schedule when the schedule makes one, as a cron expression, or off
     * @param next the next time of the schedule; empty if there is none
     * @param keep which ones of the schedule are kept
     */
    public record All(List<One> snapshots, int beingFreed, String schedule, String next, String keep) {
        public static All of(SnapshotCare care, StartTimes timer) {
            return new All(
                    One.listOf(care.source().list()),
                    care.source().beingFreed(),
                    timer.rule(),
                    timer.nextText(),
                    care.rules().toString());
        }
    }

    /** A snapshot that was deleted just now; {@code beingFreed} as of {@link All}. */
    public record Deleted(String snapshot, int beingFreed) {}

    /** What was pruned by the rules {@code keep}, or would be; see {@link SnapshotCare.Pruned}. */
    public record Pruned(boolean dryRun, String keep, List<One> deleted, List<One> held, int kept) {
        public static Pruned of(SnapshotCare.Pruned pruned, KeepRules rules, boolean dryRun) {
            return new Pruned(
                    dryRun, rules.toString(), One.listOf(pruned.deleted()), One.listOf(pruned.held()), pruned.kept());
        }
    }
}
