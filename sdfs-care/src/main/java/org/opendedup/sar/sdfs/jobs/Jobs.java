package org.opendedup.sar.sdfs.jobs;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Clock;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The jobs of one kind of a volume. One runs at a time, in the background. Each start, each stop and each end is a line
 * in the log. A subclass defines the kind: what a job does, and in which words it ends. Safe for use by many threads.
 *
 * <p>A job of most kinds goes on when the command that started it has ended. One of a kind that is
 * {@linkplain Lives#attended attended} is stopped then, unless another command asks for it; and one that does not end
 * long after it was stopped is abandoned.
 *
 * @param <R> what a job reports
 */
public abstract class Jobs<R> implements Closeable {
    private final Logger log = LoggerFactory.getLogger(getClass());
    private final String volume;
    private final String name;
    private final Lives lives;
    private final Clock clock;
    /** The latest job. Guarded by this, as are the next three. */
    private @Nullable RunningJob<R> latest;
    /** The latest that was started here, and not by another thread: its client asks for it until it has ended. */
    private @Nullable RunningJob<R> started;

    private long count;
    private boolean closed;

    /**
     * When jobs end that do not end by themselves.
     *
     * @param attended whether one that sdfscli started is stopped when its command has ended, which the connection
     *     shows. A suspended command has not ended
     * @param forgotten how long it goes on then, without a question of another command
     * @param closing time limit for the end of a job that was stopped; longer than it runs between two points where it
     *     can stop
     */
    public record Lives(boolean attended, Duration forgotten, Duration closing) {
        public static final Lives ON = new Lives(false, Duration.ofSeconds(30), Duration.ofSeconds(60));
        public static final Lives ATTENDED = new Lives(true, ON.forgotten, ON.closing);
    }

    /** Plans a job when none is running. */
    @FunctionalInterface
    protected interface Planner<R> {
        /** @throws IOException if none may run; the message says why */
        RunningJob.Plan<R> plan() throws IOException;
    }

    /**
     * @param volume name of the volume
     * @param name name of a job, for people: "scrub"
     */
    protected Jobs(String volume, String name, Lives lives, Clock clock) {
        this.volume = volume;
        this.name = name;
        this.lives = lives;
        this.clock = clock;
    }

    /** Returns the name of a job, for people. */
    public final String name() {
        return name;
    }

    /** Returns whether a job ends with the command that started it. */
    public final boolean isAttended() {
        return lives.attended;
    }

    protected final String volume() {
        return volume;
    }

    /** Returns the log of this kind. */
    protected final Logger log() {
        return log;
    }

    /** Returns, for the log, what a job did until it ended. */
    protected abstract String words(JobStatus<R> status);

    /** Returns whether the result of a job that is done is an error in the log. */
    protected boolean isBad(R result) {
        return false;
    }

    /**
     * Starts a job, and returns at once.
     *
     * @return its status; empty if {@link #running another one} is running
     * @throws IOException if none may run; the message says why
     */
    protected final synchronized Optional<JobStatus<R>> start(Cause cause, Planner<R> planner) throws IOException {
        if (closed) {
            throw new IOException("the volume is being unmounted");
        }
        if (running().isPresent()) {
            return Optional.empty();
        }
        RunningJob.Plan<R> plan = planner.plan();
        var begun = new RunningJob<>(++count, cause, plan, clock, this::ended);
        if (lives.attended && cause == Cause.SDFSCLI) {
            var watch = new Thread(() -> watch(begun), threadName() + "-watch");
            watch.setDaemon(true);
            watch.start();
        }
        latest = begun;
        started = begun;
        log.info("volume {}, by {}: {}", volume, cause, plan.words());
        begun.start(threadName());
        return Optional.of(begun.status());
    }

    /** Shows a job that another thread does; empty if one is running, or the volume is being unmounted. */
    protected final synchronized Optional<RunningJob<R>> show(Cause cause, RunningJob.Plan<R> plan) {
        if (closed || running().isPresent()) {
            return Optional.empty();
        }
        latest = new RunningJob<>(++count, cause, plan, clock, this::ended);
        return Optional.of(latest);
    }

    private String threadName() {
        return "sdfs-" + name.replace(' ', '-');
    }

    /** Looks whether a job is still wanted, and whether it ends when it is not. */
    private void watch(RunningJob<R> job) {
        Duration shorter = lives.forgotten.compareTo(lives.closing) < 0 ? lives.forgotten : lives.closing;
        try {
            boolean isAbandoned = false;
            while (!job.awaitEnd(shorter.dividedBy(10))) {
                if (!isAbandoned && job.hangs(lives.closing)) {
                    log.warn(
                            "volume {}: the {} number {} does not end; it holds up others no longer",
                            volume,
                            name,
                            job.number());
                    job.abandon();
                    isAbandoned = true;
                }
                if (job.isForgotten(lives.forgotten)) {
                    job.stop();
                }
            }
        } catch (InterruptedIOException e) {
            job.stop();
        }
    }

    private void ended(JobStatus<R> status, Runnable show) {
        // Whatever fails here, the job has ended: else none of its kind could start before the next mount.
        try {
            keep(status);
        } catch (RuntimeException | Error e) {
            log.warn("volume {}: later mounts do not know the {}", volume, name, e);
        }
        synchronized (this) {
            show.run();
            try {
                // Before another one can start.
                ended(status);
            } catch (RuntimeException | Error e) {
                log.warn("volume {}: the {} has ended, and its end could not be told", volume, name, e);
            }
        }
    }

    /**
     * Keeps what a job did for later mounts, before its end is shown. Holds no lock: who asks for the status must not
     * wait for a disk.
     */
    protected void keep(JobStatus<R> status) {}

    /** Logs the end of the latest job. */
    protected void ended(JobStatus<R> status) {
        String time = String.format(Locale.ROOT, "after %.1f s", status.seconds());
        String did = words(status);
        String words = time + (did.isEmpty() ? "" : "; " + did);
        R report = status.report();
        if (status.state() == JobState.FAILED) {
            log.warn("volume {}: the {} failed {}", volume, name, words, status.failure());
        } else if (status.state() == JobState.STOPPED) {
            log.info("volume {}: the {} was stopped {}", volume, name, words);
        } else if (report != null && isBad(report)) {
            log.error("volume {}: the {} ended {}", volume, name, words);
        } else {
            log.info("volume {}: the {} ended {}", volume, name, words);
        }
    }

    /** Returns the job that is running. */
    public final synchronized Optional<JobStatus<R>> running() {
        return latest().filter(JobStatus::isRunning);
    }

    /** Returns the latest job of this mount, running or ended. */
    public final synchronized Optional<JobStatus<R>> latest() {
        return Optional.ofNullable(latest).map(RunningJob::status);
    }

    /** Returns the job with this number, if it is the latest one or the latest that was started here. */
    public final Optional<JobStatus<R>> numbered(long number) {
        return find(number).map(RunningJob::status);
    }

    private synchronized Optional<RunningJob<R>> find(long number) {
        return Stream.of(Optional.ofNullable(latest), Optional.ofNullable(started))
                .flatMap(Optional::stream)
                .filter(job -> job.number() == number)
                .findFirst();
    }

    /** Notes that a command asks for the job with this number. */
    public final void asked(long number) {
        find(number).ifPresent(RunningJob::asked);
    }

    /** Notes that the command that started the job with this number has ended. */
    public final void left(long number) {
        if (lives.attended) {
            find(number).ifPresent(RunningJob::leave);
        }
    }

    /**
     * Makes the job with this number end soon; returns at once.
     *
     * @return whether it is running
     */
    public synchronized boolean stop(Cause cause, long number) {
        Optional<RunningJob<R>> running = find(number).filter(RunningJob::isRunning);
        running.ifPresent(job -> {
            log.info("volume {}, by {}: stopping the {}", volume, cause, name);
            job.stop();
        });
        return running.isPresent();
    }

    /** Makes the running job end soon; returns whether one is running. */
    public final synchronized boolean stop(Cause cause) {
        return latest != null && stop(cause, latest.number());
    }

    /** Returns whether the volume is being unmounted. */
    protected final synchronized boolean isClosed() {
        return closed;
    }

    /**
     * Stops the running job. Waits for its end, in bounded time: what it works with may hang. None starts afterwards.
     */
    @Override
    public final void close() throws IOException {
        RunningJob<R> running;
        synchronized (this) {
            closed = true;
            running = latest;
        }
        if (running == null) {
            return;
        }
        running.stop();
        if (!running.awaitEnd(lives.closing)) {
            log.warn(
                    "volume {}: the {} has not ended after {} s; no longer waiting for it",
                    volume,
                    name,
                    lives.closing.toSeconds());
            running.abandon();
        }
    }
}
