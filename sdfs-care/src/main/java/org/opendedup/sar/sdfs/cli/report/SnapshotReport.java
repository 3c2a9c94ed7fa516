package org.opendedup.sar.sdfs.cli.report;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.record.SnapshotRecord;
import org.opendedup.sar.sdfs.config.KeepRules;
import org.opendedup.sar.sdfs.jobs.StartTimes;
import org.opendedup.sar.sdfs.snapshot.SnapshotCare;
import org.opendedup.sar.sdfs.snapshot.SnapshotSource;

/** What the snapshot commands report. The names are stable. */
public final class SnapshotReport {
    /** A number of bytes that is not known. */
    static final long UNKNOWN = -1;

    /** For how long a list computes what deleting its snapshots would free, in milliseconds; half of it for all. */
    private static final long LIST_NANOS = TimeUnit.SECONDS.toNanos(1);

    private SnapshotReport() {}

    /**
     * A snapshot.
     *
     * @param heldUntil until when it cannot be deleted; empty if it can
     * @param files inodes of the volume when it was made
     * @param logicalBytes bytes of the files of the volume then, without holes
     * @param freesBytes bytes of chunks, before compression, that deleting this one alone would free; -1 if that was
     *     not asked for, or there are so many snapshots that it takes too long
     * @param origin of one that was received: the volume that made it, its number there, and when, as text; else empty
     */
    public record One(
            String snapshot,
            long number,
            String created,
            String heldUntil,
            boolean scheduled,
            long files,
            long logicalBytes,
            long freesBytes,
            String origin) {
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
                    freesBytes,
                    record.origin() == null ? "" : record.origin().toString());
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
     * @param freesBytes bytes of chunks, before compression, that deleting all of them would free; -1 if that takes too
     *     long
     * @param schedule when the schedule makes one, as a cron expression, or off
     * @param next the next time of the schedule; empty if there is none
     * @param keep which ones of the schedule are kept
     */
    public record All(List<One> snapshots, int beingFreed, long freesBytes, String schedule, String next, String keep) {
        public static All of(SnapshotCare care, StartTimes timer) {
            long start = System.nanoTime();
            List<SnapshotRecord> records = care.source().list();
            long freed = freedBy(records, care.source(), start + LIST_NANOS / 2);
            return new All(
                    withFreed(records, care.source(), start + LIST_NANOS),
                    care.source().beingFreed(),
                    freed,
                    timer.rule(),
                    timer.nextText(),
                    care.rules().toString());
        }
    }

    private static List<One> withFreed(List<SnapshotRecord> records, SnapshotSource source, long endNanos) {
        return records.stream()
                .map(record -> One.of(record, freedBy(List.of(record), source, endNanos)))
                .toList();
    }

    private static long freedBy(List<SnapshotRecord> records, SnapshotSource source, long endNanos) {
        Progress untilEnd = (stage, done, of) -> {
            if (System.nanoTime() - endNanos > 0) {
                throw new InterruptedIOException("it takes too long");
            }
        };
        try {
            untilEnd.at("", 0, 0);
            return source.bytesFreedBy(names(records), untilEnd);
        } catch (IOException e) {
            // It takes too long, one was deleted meanwhile, or a record of it cannot be read.
            return UNKNOWN;
        }
    }

    private static Collection<String> names(List<SnapshotRecord> records) {
        return records.stream().map(SnapshotRecord::name).toList();
    }

    /** A snapshot that was deleted just now; {@code beingFreed} as of {@link All}. */
    public record Deleted(String snapshot, int beingFreed) {}

    /**
     * What a deletion of snapshots would do.
     *
     * @param deleted those that would be deleted, the oldest first
     * @param held those that are held, so they stay
     * @param freesBytes bytes of chunks, before compression, that it would free; -1 if that was not asked for
     */
    public record Deletion(List<One> deleted, List<One> held, long freesBytes) {
        /** @param withSpace whether the bytes are asked for */
        public static Deletion of(SnapshotCare.Selection selection, SnapshotSource source, boolean withSpace)
                throws IOException {
            return new Deletion(
                    One.listOf(selection.deletable()),
                    One.listOf(selection.held()),
                    withSpace ? source.bytesFreedBy(names(selection.deletable()), Progress.NONE) : UNKNOWN);
        }
    }

    /**
     * What was pruned by the rules {@code keep}, or would be; see {@link SnapshotCare.Pruned}.
     *
     * @param freesBytes of a dry run: bytes of chunks, before compression, that it would free; otherwise -1
     */
    public record Pruned(boolean dryRun, String keep, List<One> deleted, List<One> held, int kept, long freesBytes) {
        public static Pruned of(SnapshotCare.Pruned pruned, KeepRules rules, boolean dryRun, SnapshotSource source)
                throws IOException {
            return new Pruned(
                    dryRun,
                    rules.toString(),
                    One.listOf(pruned.deleted()),
                    One.listOf(pruned.held()),
                    pruned.kept(),
                    dryRun ? source.bytesFreedBy(names(pruned.deleted()), Progress.NONE) : UNKNOWN);
        }
    }
}
