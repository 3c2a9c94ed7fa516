package org.opendedup.sar.sdfs.collect;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.arrange.ArrangementLimits;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.collect.CollectionWatcher;
import org.opendedup.sar.sdfs.collect.CollectionStatus.State;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A collection, and the thread that does it unless the volume began it itself. Safe for use by many threads. */
final class RunningCollection implements CollectionWatcher.Watch {
    private static final Logger LOG = LoggerFactory.getLogger(RunningCollection.class);

    private final long number;
    private final Cause cause;
    private final CollectionLimits limits;
    private final @Nullable ArrangementLimits arranges;
    private final CollectionSource source;
    private final Clock clock;
    private final Consumer<Runnable> atEnd;
    private final Instant began;
    private final long startNanos = System.nanoTime();
    private final Thread worker = new Thread(this::work, "sdfs-gc");
    private final CountDownLatch hasEnded = new CountDownLatch(1);
    private volatile boolean stopping;
    private volatile Progress progress = new Progress(false, 0, 0, 0);
    private volatile @Nullable ArrangementReport arrangement;
    private volatile @Nullable End end;

    private record Progress(boolean arranging, long bytesDone, long bytes, long returnedBytes) {}

    private record End(
            State state,
            double seconds,
            Instant ended,
            @Nullable CollectionReport report,
            @Nullable Throwable failure) {}

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
        this.number = number;
        this.cause = cause;
        this.limits = limits;
        this.arranges = arranges;
        this.source = source;
        this.clock = clock;
        this.atEnd = atEnd;
        began = clock.instant();
        worker.setDaemon(true);
    }

    /** Starts the thread. Not to be called for a collection that the volume does itself. */
    void start() {
        try {
            worker.start();
        } catch (OutOfMemoryError e) {
            // No thread could be started. Nobody may wait for a collection that never began.
            end(State.FAILED, null, e);
        }
    }

    /** Makes it end after the container at hand. */
    void stop() {
        stopping = true;
    }

    long number() {
        return number;
    }

    boolean isRunning() {
        return end == null;
    }

    /** Waits for its end; returns false if it lasts longer than the limit. */
    boolean awaitEnd(Duration limit) throws InterruptedException {
        return hasEnded.await(limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void work() {
        try {
            if (arranges != null) {
                arrange(arranges);
            }
            ended(source.collect(limits, this), null);
        } catch (IOException | RuntimeException e) {
            ended(null, e);
        } catch (Error e) {
            end(State.FAILED, null, e);
        }
    }

    @Override
    public void ended(@Nullable CollectionReport report, @Nullable Exception failure) {
        if (report != null) {
            end(State.DONE, report, null);
        } else if (failure == null || failure instanceof InterruptedIOException) {
            end(State.STOPPED, null, null);
        } else {
            end(State.FAILED, null, failure);
        }
    }

    /** Space must come back also if chunks cannot be moved. */
    private void arrange(ArrangementLimits limitsOfIt) throws InterruptedIOException {
        try {
            arrangement = source.arrange(limitsOfIt, this::arranged);
        } catch (InterruptedIOException e) {
            throw e;
        } catch (IOException e) {
            LOG.warn("chunks were not arranged; the collection of garbage continues", e);
        }
    }

    private boolean arranged(long bytesDone, long bytes) {
        progress = new Progress(true, bytesDone, bytes, 0);
        return !stopping;
    }

    @Override
    public boolean collected(long bytesDone, long bytes, long returnedBytes) {
        progress = new Progress(false, bytesDone, bytes, returnedBytes);
        return !stopping;
    }

    private void end(State state, @Nullable CollectionReport report, @Nullable Throwable failure) {
        var result = new End(state, seconds(), clock.instant(), report, failure);
        atEnd.accept(() -> end = result);
        hasEnded.countDown();
    }

    private double seconds() {
        return (System.nanoTime() - startNanos) / 1e9;
    }

    CollectionStatus status() {
        End ended = end;
        // Read after the end, so that the progress is not older than the state.
        Progress now = progress;
        return new CollectionStatus(
                number,
                ended == null ? State.RUNNING : ended.state(),
                cause,
                limits.dryRun(),
                ended == null && now.arranging(),
                now.bytesDone(),
                now.bytes(),
                now.returnedBytes(),
                ended == null ? seconds() : ended.seconds(),
                began,
                ended == null ? null : ended.ended(),
                arrangement,
                ended == null ? null : ended.report(),
                ended == null ? null : ended.failure());
    }
}
