package org.opendedup.sar.sdfs.collect;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Clock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.collect.CollectionWatcher;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.join.JoinProgress;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobState;
import org.opendedup.sar.sdfs.jobs.RunningJob;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A collection, and the thread that does it unless the volume began it itself. Safe for use by many threads. */
final class RunningCollection implements CollectionWatcher.Watch {
    private static final Logger LOG = LoggerFactory.getLogger(RunningCollection.class);

    private final CollectionLimits limits;
    private final @Nullable ArrangementLimits arranges;
    private final CollectionSource source;
    private final RunningJob<CollectionReport> job;
    private volatile Progress progress = new Progress(CollectionStage.COLLECTING, 0, 0, 0);
    private volatile @Nullable ArrangementReport arrangement;

    private record Progress(CollectionStage stage, long bytesDone, long bytes, long returnedBytes) {}

    /**
     * @param arranges limits of an arrangement before the collection; null if there is none
     * @param atEnd gets the action that shows the end, once, and runs it
     */
    RunningCollection(
            long number,
            Cause cause,
            CollectionLimits limits,
            @Nullable ArrangementLimits arranges,
            CollectionSource source,
            Clock clock,
            Consumer<Runnable> atEnd) {
        this.limits = limits;
        this.arranges = arranges;
        this.source = source;
        job = new RunningJob<>(number, cause, "sdfs-gc", clock, atEnd);
    }

    /** Starts the thread. Not to be called for a collection that the volume does itself. */
    void start() {
        job.start(this::work);
    }

    RunningJob<CollectionReport> job() {
        return job;
    }

    private CollectionReport work() throws IOException {
        if (job.cause() == Cause.SCHEDULE && !limits.dryRun()) {
            join();
        }
        if (arranges != null) {
            arrange(arranges);
        }
        return source.collect(limits, this);
    }

    @Override
    public void ended(@Nullable CollectionReport report, @Nullable Exception failure) {
        job.ended(report, failure);
    }

    /** Space must come back also if nothing can be joined. */
    private void join() throws InterruptedIOException {
        try {
            JoinReport report = source.joinIfWorthwhile(this::joined);
            if (report != null) {
                LOG.info(
                        "an exact pass before the collection: {} were stored more than once, {} of these are garbage"
                                + " now",
                        ByteSize.rounded(report.foundBytes()),
                        ByteSize.rounded(report.joinedBytes()));
            }
        } catch (InterruptedIOException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            LOG.warn("chunks were not joined; the collection of garbage continues", e);
        }
    }

    /** Space must come back also if chunks cannot be moved. */
    private void arrange(ArrangementLimits limitsOfIt) throws InterruptedIOException {
        try {
            arrangement = source.arrange(limitsOfIt, this::arranged);
        } catch (InterruptedIOException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            LOG.warn("chunks were not arranged; the collection of garbage continues", e);
        }
    }

    private boolean joined(JoinProgress.Phase phase, long done, long of) {
        progress = phase == JoinProgress.Phase.COMPARING
                // Counts containers, which are not shown as bytes.
                ? new Progress(CollectionStage.COMPARING, 0, 0, 0)
                : new Progress(CollectionStage.JOINING, done, of, 0);
        return job.goesOn();
    }

    private boolean arranged(long bytesDone, long bytes) {
        progress = new Progress(CollectionStage.ARRANGING, bytesDone, bytes, 0);
        return job.goesOn();
    }

    @Override
    public boolean collected(long bytesDone, long bytes, long returnedBytes) {
        progress = new Progress(CollectionStage.COLLECTING, bytesDone, bytes, returnedBytes);
        return job.goesOn();
    }

    CollectionStatus status() {
        RunningJob.End<CollectionReport> ended = job.end();
        // Read after the end, so that the progress is not older than the state.
        Progress now = progress;
        return new CollectionStatus(
                job.number(),
                ended == null ? JobState.RUNNING : ended.state(),
                job.cause(),
                limits.dryRun(),
                now.stage(),
                now.bytesDone(),
                now.bytes(),
                now.returnedBytes(),
                ended == null ? job.seconds() : ended.seconds(),
                job.began(),
                ended == null ? null : ended.ended(),
                arrangement,
                ended == null ? null : ended.result(),
                ended == null ? null : ended.failure());
    }
}
