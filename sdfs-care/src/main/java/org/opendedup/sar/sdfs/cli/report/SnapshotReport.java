package org.opendedup.sar.sdfs.cli.report;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.sdfs.config.KeepRules;
import org.opendedup.sar.sdfs.jobs.StartTimes;
import org.opendedup.sar.sdfs.snapshot.SnapshotCare;
import org.opendedup.sar.sdfs.snapshot.SnapshotSource;

/** What the snapshot commands report. The names are stable. */
public final class SnapshotReport {
    /** A number of bytes that is not known. */
    static final long UNKNOWN = -1;

    /** For how long a list computes what deleting its snapshots would free, in milliseconds. */
    private static final long LIST_MS = 1000;

    private SnapshotReport() {}

    /**
     * A snapshot.
     *
     * @param heldUntil until when it cannot be deleted; empty if it can
     * @param files inodes of the volume when it was made
     * @param logicalBytes bytes of the files of the volume then, without holes
     * @param freesBytes bytes of chunks, before compression, that deleting this one alone would free; -1 if that was
     *     not asked for, or there are so many snapshots that it takes too long
     */
    public record One(
            String snapshot,
            long number,
            String created,
            String heldUntil,
            boolean scheduled,
            long files,
            long logicalBytes,
            long freesBytes) {
        public static One of(SnapshotRecord record) {
            return of(record, UNKNOWN);
        }

        private static One of(SnapshotRecord record, long freesBytes) {
            return new One(
                    record.name(),
                    record.number(),
                    time(record.createdMs()),
                    record.heldUntilMs() > System.currentTimeMillis() ? time(record.heldUntilMs()) : "",
                    record.isScheduled(),
                    record.files(),
                    record.logicalBytes(),
                    freesBytes);
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
                    withFreed(care.source()),
                    care.source().beingFreed(),
                    timer.rule(),
                    timer.nextText(),
                    care.rules().toString());
        }
    }

    private static List<One> withFreed(SnapshotSource source) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LIST_MS);
        List<One> all = new ArrayList<>();
        for (SnapshotRecord record : source.list()) {
            all.add(One.of(record, System.nanoTime() - end > 0 ? UNKNOWN : freedBy(record, source)));
        }
        return all;
    }

    private static long freedBy(SnapshotRecord record, SnapshotSource source) {
        try {
            return source.bytesFreedBy(record.name());
        } catch (IOException e) {
            // Deleted meanwhile, or a record of it cannot be read.
            return UNKNOWN;
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
