package org.opendedup.sar.sdfs.collect;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.collect.CollectionLimits;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.sdfs.collect.CollectionStatus.State;

/** A collection and the thread that does it. Safe for use by many threads. */
final class RunningCollection {
    private final long number;
    private final Cause cause;
    private final CollectionLimits limits;
    private final CollectionSource source;
    private final Clock clock;
    private final Consumer<Runnable> atEnd;
    private final Instant began;
    private final long startNanos = System.nanoTime();
    private final Thread worker = new Thread(this::work, "sdfs-gc");
    private volatile boolean stopping;
    private volatile Progress progress = new Progress(0, 0, 0);
    private volatile @Nullable End end;

    private record Progress(long bytesDone, long bytes, long returnedBytes) {}

    private record End(
            State state,
            double seconds,
            Instant ended,
            @Nullable CollectionReport report,
            @Nullable Throwable failure) {}

    /** @param atEnd gets the action that shows the end, once, and runs it */
    RunningCollection(
            long number,
            Cause cause,
            CollectionLimits limits,
            CollectionSource source,
            Clock clock,
            Consumer<Runnable> atEnd) {
        this.number = number;
        this.cause = cause;
        this.limits = limits;
        this.source = source;
        this.clock = clock;
        this.atEnd = atEnd;
        began = clock.instant();
        worker.setDaemon(true);
    }

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
        worker.join(limit.toMillis());
        return !worker.isAlive();
    }

    private void work() {
        try {
            end(State.DONE, source.collect(limits, this::collected), null);
        } catch (InterruptedIOException e) {
            end(State.STOPPED, null, null);
        } catch (IOException | RuntimeException | Error e) {
            end(State.FAILED, null, e);
        }
    }

    private boolean collected(long bytesDone, long bytes, long returnedBytes) {
        progress = new Progress(bytesDone, bytes, returnedBytes);
        return !stopping;
    }

    private void end(State state, @Nullable CollectionReport report, @Nullable Throwable failure) {
        var result = new End(state, seconds(), clock.instant(), report, failure);
        atEnd.accept(() -> end = result);
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
                now.bytesDone(),
                now.bytes(),
                now.returnedBytes(),
                ended == null ? seconds() : ended.seconds(),
                began,
                ended == null ? null : ended.ended(),
                ended == null ? null : ended.report(),
                ended == null ? null : ended.failure());
    }
}
