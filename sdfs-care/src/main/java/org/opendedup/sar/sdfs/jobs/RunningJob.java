package org.opendedup.sar.sdfs.jobs;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Progress;

/**
 * A job, and the thread that does it unless another one does. Safe for use by many threads.
 *
 * @param <R> what it reports
 */
public final class RunningJob<R> implements Progress {
    private final long number;
    private final Cause cause;
    private final Plan<R> plan;
    private final Clock clock;
    private final BiConsumer<JobStatus<R>, Runnable> atEnd;
    private final Instant began;
    private final long startNanos = System.nanoTime();
    private final CountDownLatch hasEnded = new CountDownLatch(1);
    private volatile Supplier<@Nullable R> soFar;
    private volatile Stage stage;
    private volatile boolean stopping;
    /** Time of the first request to stop, by {@link System#nanoTime}. */
    private volatile long stoppedNanos;
    /** Whether the command that started it exists. */
    private volatile boolean isAttended = true;
    /** Time of the latest question of a command. */
    private volatile long askedNanos = startNanos;

    private volatile @Nullable JobStatus<R> end;

    /** What a job does. */
    @FunctionalInterface
    public interface Work<R> {
        /**
         * Does it. {@link RunningJob#at} throws when it was asked to stop.
         *
         * @throws InterruptedIOException if it was stopped
         */
        R run(RunningJob<R> job) throws IOException;

        /** Makes it end soon, without harm; for work that does not call {@link RunningJob#at} often. */
        default void stop() {}

        /**
         * Called if it has not ended long after {@link #stop}, because something does not answer: gives back what
         * others wait for. The work does nothing more when that answers.
         */
        default void abandon() {}
    }

    /**
     * A job that may begin.
     *
     * @param words what begins, for the log: "a scrub started"
     * @param stage what it does first
     * @param before what it reports at first
     */
    public record Plan<R>(
            String words, String stage, @Nullable R before, Work<R> work) {}

    private record Stage(String name, long done, long of, long beganNanos) {}

    /** @param atEnd gets, once, the status at the end, and the action that shows it, and runs that */
    RunningJob(long number, Cause cause, Plan<R> plan, Clock clock, BiConsumer<JobStatus<R>, Runnable> atEnd) {
        this.number = number;
        this.cause = cause;
        this.plan = plan;
        this.clock = clock;
        this.atEnd = atEnd;
        began = clock.instant();
        soFar = plan::before;
        stage = new Stage(plan.stage(), 0, 0, startNanos);
    }

    /** Starts the thread. Not to be called for a job that another thread does. */
    void start(String threadName) {
        var worker = new Thread(this::work, threadName);
        worker.setDaemon(true);
        try {
            worker.start();
        } catch (OutOfMemoryError e) {
            // No thread could be started. Nobody may wait for a job that never began.
            end(JobState.FAILED, null, e);
        }
    }

    private void work() {
        try {
            ended(plan.work().run(this), null);
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
        JobStatus<R> now = status(state, clock.instant(), result == null ? soFar.get() : result, failure);
        atEnd.accept(now, () -> end = now);
        hasEnded.countDown();
    }

    /** @throws InterruptedIOException if it was asked to stop */
    @Override
    public void at(String now, long done, long of) throws InterruptedIOException {
        if (!goesOn(now, done, of)) {
            throw new InterruptedIOException("stopped");
        }
    }

    /** @throws InterruptedIOException if it was asked to stop */
    public void checkStopped() throws InterruptedIOException {
        Stage now = stage;
        at(now.name, now.done, now.of);
    }

    /** As {@link #at}, but returns whether to go on. */
    public boolean goesOn(String now, long done, long of) {
        Stage before = stage;
        stage = new Stage(now, done, of, now.equals(before.name) ? before.beganNanos : System.nanoTime());
        return !stopping;
    }

    /** Sets what it reports until its end. */
    public void reports(Supplier<@Nullable R> now) {
        soFar = now;
    }

    /** Returns what it reports now. */
    public @Nullable R report() {
        return soFar.get();
    }

    void stop() {
        if (!stopping) {
            stoppedNanos = System.nanoTime();
            stopping = true;
            plan.work().stop();
        }
    }

    void abandon() {
        plan.work().abandon();
    }

    /** A command asks for it. */
    void asked() {
        askedNanos = System.nanoTime();
    }

    /** The command that started it has ended. */
    void leave() {
        asked();
        isAttended = false;
    }

    /** Returns whether the command that started it has ended, and no other asked for it that long. */
    boolean isForgotten(Duration limit) {
        return !isAttended && System.nanoTime() - askedNanos > limit.toNanos();
    }

    /** Returns whether it was asked to stop that long ago. */
    boolean hangs(Duration limit) {
        return stopping && System.nanoTime() - stoppedNanos > limit.toNanos();
    }

    /** Waits for its end; returns false if it lasts longer than the limit. */
    boolean awaitEnd(Duration limit) throws InterruptedIOException {
        try {
            return hasEnded.await(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for the end of a job");
        }
    }

    long number() {
        return number;
    }

    Cause cause() {
        return cause;
    }

    boolean isRunning() {
        return end == null;
    }

    JobStatus<R> status() {
        JobStatus<R> ended = end;
        return ended == null ? status(JobState.RUNNING, null, soFar.get(), null) : ended;
    }

    private JobStatus<R> status(
            JobState state, @Nullable Instant ended, @Nullable R report, @Nullable Throwable failure) {
        Stage at = stage;
        long now = System.nanoTime();
        return new JobStatus<>(
                number,
                state,
                cause,
                at.name,
                at.done,
                at.of,
                (now - at.beganNanos) / 1e9,
                (now - startNanos) / 1e9,
                began,
                ended,
                report,
                failure);
    }
}
