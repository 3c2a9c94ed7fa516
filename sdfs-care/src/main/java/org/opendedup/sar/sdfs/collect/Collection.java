package org.opendedup.sar.sdfs.collect;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionProgress;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.collect.CollectionSource;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.join.JoinLimits;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.join.JoinSource;
import org.opendedup.sar.sdfs.jobs.RunningJob;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a collection does: joins and arranges chunks first if that is wanted, then collects.
 *
 * @param moves null if neither of the next two is wanted, or possible
 * @param joins whether it first joins copies of the same content, if that is worth it
 * @param arranges limits of an arrangement before the collection; null if there is none
 */
record Collection(
        CollectionSource source,
        @Nullable Moves moves,
        CollectionLimits limits,
        boolean joins,
        @Nullable ArrangementLimits arranges)
        implements RunningJob.Work<Collected> {
    /** Collects; the units are stored bytes of the chosen containers. */
    static final String COLLECTING = "collecting";

    private static final Logger LOG = LoggerFactory.getLogger(Collection.class);

    @Override
    public Collected run(RunningJob<Collected> job) throws IOException {
        var now = new Collected(limits.dryRun(), 0, null, null);
        if (moves != null && joins && !limits.dryRun()) {
            join(job, moves.joins());
        }
        if (moves != null && arranges != null) {
            now = arrange(job, moves.arranging(), arranges, now);
        }
        CollectionReport report = source.collect(limits, progress(job, now));
        return Objects.requireNonNull(job.report()).done(report);
    }

    /** Returns what shows the progress of the collection in a job. */
    static CollectionProgress progress(RunningJob<Collected> job, Collected before) {
        return (bytesDone, bytes, returnedBytes) -> {
            job.reports(() -> before.returned(returnedBytes));
            return job.goesOn(COLLECTING, bytesDone, bytes);
        };
    }

    /** Space must come back also if nothing can be joined. */
    private static void join(RunningJob<Collected> job, JoinSource source) throws InterruptedIOException {
        try {
            if (!source.isWorthwhile()) {
                return;
            }
            // While it compares it counts containers, which are not shown as bytes.
            JoinReport report = source.run(
                    JoinLimits.WORTHWHILE,
                    (stage, done, of) -> job.at(
                            stage,
                            stage.equals(JoinSource.COMPARING) ? 0 : done,
                            stage.equals(JoinSource.COMPARING) ? 0 : of));
            LOG.info(
                    "an exact pass before the collection: {} were stored more than once, {} of these are garbage now",
                    ByteSize.rounded(report.foundBytes()),
                    ByteSize.rounded(report.joinedBytes()));
        } catch (InterruptedIOException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            LOG.warn("chunks were not joined; the collection of garbage continues", e);
        }
    }

    /** Space must come back also if chunks cannot be moved. */
    private static Collected arrange(
            RunningJob<Collected> job, Moves.Arranging source, ArrangementLimits limitsOfIt, Collected before)
            throws InterruptedIOException {
        try {
            Collected now = before.arranged(source.arrange(limitsOfIt, job));
            job.reports(() -> now);
            return now;
        } catch (InterruptedIOException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            LOG.warn("chunks were not arranged; the collection of garbage continues", e);
            return before;
        }
    }
}
