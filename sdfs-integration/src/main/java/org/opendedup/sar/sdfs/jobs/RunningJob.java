package org.opendedup.sar.sdfs.jobs;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A job, and the thread that does it unless another one does. Safe for use by many threads.
 *
 * @param <R> what a complete job returns
 */
public final class RunningJob<R> {
    /** Time limit for stopping a job; longer than it runs between two points where it can stop. */
    public static final Duration CLOSING = Duration.ofSeconds(60);

    private final long number;
    private final Cause cause;
    private final String threadName;
    private final Clock clock;
    private final Consumer<Runnable> atEnd;
    private final Instant began;
    private final long startNanos = System.nanoTime();
    private final CountDownLatch hasEnded = new CountDownLatch(1);
    private volatile boolean stopping;
    private volatile @Nullable End<R> end;

    /** What a job does. */
    @FunctionalInterface
    public interface Work<R> {
        /** @throws InterruptedIOException if it was stopped */
        R run() throws IOException;
    }

    /**
     * How a job ended.
     *
     * @param seconds time that it ran
     * @param result null unless it is done
     * @param failure null unless it failed
     */
    public record End<R>(
            JobState state,
            double seconds,
            Instant ended,
            @Nullable R result,
            @Nullable Throwable failure) {}

    /**
     * @param number counts the jobs of a kind from 1
     * @param atEnd gets the action that shows the end, once, and runs it
     */
    public RunningJob(long number, Cause cause, String threadName, Clock clock, Consumer<Runnable> atEnd) {
        this.number = number;
        this.cause = cause;
        this.threadName = threadName;
        this.clock = clock;
        this.atEnd = atEnd;
        began = clock.instant();
    }

    /** Starts the thread. Not to be called for a job that another thread does. */
    public void start(Work<R> work) {
        var worker = new Thread(() -> work(work), threadName);
        worker.setDaemon(true);
        try {
            worker.start();
        } catch (OutOfMemoryError e) {
            // No thread could be started. Nobody may wait for a job that never began.
            end(JobState.FAILED, null, e);
        }
    }

    private void work(Work<R> work) {
        try {
            ended(work.run(), null);
        } catch (IOException | RuntimeException e) {
            ended(null, e);
        } catch (Error e) {
            end(JobState.FAILED, null, e);
        }
    }

    /**
     * Notes the end, for a job that another thread does.
     *
     * @param result null unless it is done
     * @param failure null if it is done, or was stopped
     */
    public void ended(@Nullable R result, @Nullable Exception failure) {
        if (result != null) {
            end(JobState.DONE, result, null);
        } else if (failure == null || failure instanceof InterruptedIOException) {
            end(JobState.STOPPED, null, null);
        } else {
            end(JobState.FAILED, null, failure);
        }
    }

    private void end(JobState state, @Nullable R result, @Nullable Throwable failure) {
        var now = new End<>(state, seconds(), clock.instant(), result, failure);
        atEnd.accept(() -> end = now);
        hasEnded.countDown();
    }

    /** Makes {@link #goesOn} return false from now on. */
    public void stop() {
        stopping = true;
    }

    /** Returns whether the work is to go on. */
    public boolean goesOn() {
        return !stopping;
    }

    public long number() {
        return number;
    }

    public Cause cause() {
        return cause;
    }

    public Instant began() {
        return began;
    }

    /** Returns the time since it began. */
    public double seconds() {
        return (System.nanoTime() - startNanos) / 1e9;
    }

    /** Returns how it ended; null while it runs. */
    public @Nullable End<R> end() {
        return end;
    }

    /**
     * Stops it and waits for its end.
     *
     * @return false if it lasts longer than {@link #CLOSING}
     */
    public boolean close() throws InterruptedIOException {
        stop();
        try {
            return hasEnded.await(CLOSING.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for the end of thread " + threadName);
        }
    }
}
