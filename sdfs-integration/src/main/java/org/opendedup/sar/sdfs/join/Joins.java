package org.opendedup.sar.sdfs.join;

import java.io.Closeable;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.join.JoinProgress.Phase;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.join.LossSample;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobState;
import org.opendedup.sar.sdfs.jobs.RunningJob;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The exact passes of a mounted volume but for those before collections. One runs at a time, in the background. Each
 * start, each stop and each end is a line in the log. Safe for use by many threads.
 */
public final class Joins implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(Joins.class);

    private final String volume;
    private final JoinSource source;
    private final Clock clock;
    /** The latest pass. Guarded by this, as are the next two. */
    private Optional<Pass> latest = Optional.empty();

    private long started;
    private boolean closed;

    private record Progress(Phase phase, long done, long of) {}

    /** A pass and its thread. */
    private static final class Pass {
        private final RunningJob<JoinReport> job;
        private final JoinSource source;
        private volatile Progress progress = new Progress(Phase.COMPARING, 0, 0);

        Pass(long number, Cause cause, JoinSource source, Clock clock, Consumer<Runnable> atEnd) {
            this.source = source;
            job = new RunningJob<>(number, cause, "sdfs-join", clock, atEnd);
        }

        void start() {
            job.start(() ->
                    job.cause() == Cause.IDLE ? source.joinWhatIsWorthIt(this::goesOn) : source.join(this::goesOn));
        }

        private boolean goesOn(Phase phase, long done, long of) {
            progress = new Progress(phase, done, of);
            return job.goesOn();
        }

        JoinStatus status() {
            RunningJob.End<JoinReport> end = job.end();
            Progress now = progress;
            return new JoinStatus(
                    end == null ? JobState.RUNNING : end.state(),
                    job.cause(),
                    now.phase(),
                    now.done(),
                    now.of(),
                    end == null ? job.seconds() : end.seconds(),
                    end == null ? null : end.result(),
                    end == null ? null : end.failure());
        }
    }

    /** @param volume name of the volume */
    public Joins(String volume, JoinSource source, Clock clock) {
        this.volume = volume;
        this.source = source;
        this.clock = clock;
    }

    /**
     * Starts a pass, and returns at once. One because of {@link Cause#IDLE} joins only what is worth it, and gives way.
     *
     * @return false if another one is running
     * @throws IOException if none may run; the message says why
     */
    public synchronized boolean start(Cause cause) throws IOException {
        if (closed) {
            throw new IOException("the volume is being unmounted");
        }
        if (isRunning()) {
            return false;
        }
        source.requireAllowed();
        Pass begun = new Pass(++started, cause, source, clock, this::ended);
        latest = Optional.of(begun);
        LOG.info("volume {}, by {}: an exact pass started", volume, cause);
        begun.start();
        return true;
    }

    private synchronized void ended(Runnable show) {
        show.run();
        JoinStatus status = latest().orElseThrow();
        String time = String.format(Locale.ROOT, "after %.1f s", status.seconds());
        JoinReport report = status.report();
        if (status.state() == JobState.FAILED) {
            LOG.warn("volume {}: the exact pass failed", volume, status.failure());
        } else if (report == null) {
            LOG.info("volume {}: the exact pass was stopped {}", volume, time);
        } else {
            LOG.info(
                    "volume {}: the exact pass ended {}; {} were stored more than once, {} of these are garbage now",
                    volume,
                    time,
                    ByteSize.rounded(report.foundBytes()),
                    ByteSize.rounded(report.joinedBytes()));
        }
    }

    /** Returns whether a pass is running. */
    public synchronized boolean isRunning() {
        return latest.isPresent() && latest.get().job.end() == null;
    }

    /** Returns the latest pass of this mount, but for those before collections, going on or ended. */
    public synchronized Optional<JoinStatus> latest() {
        return latest.map(Pass::status);
    }

    /**
     * Makes the running pass end; returns at once.
     *
     * @return whether one is running
     */
    public synchronized boolean stop(Cause cause) {
        if (!isRunning()) {
            return false;
        }
        LOG.info("volume {}, by {}: stopping the exact pass", volume, cause);
        latest.orElseThrow().job.stop();
        return true;
    }

    /**
     * Starts a pass that is worth it if no program has used the volume for some time.
     *
     * @param idle this time
     * @return whether one was started
     * @throws IOException if none may run, or it is not known whether it is worth it
     */
    boolean startIfIdle(Duration idle) throws IOException {
        // Both are looked at each time, because they see changes by looking.
        boolean worthwhile = source.isWorthwhile();
        boolean quiet = source.quiet().compareTo(idle) >= 0;
        return worthwhile && quiet && start(Cause.IDLE);
    }

    /** Returns how much is estimated to be stored more than once. */
    public LossSample.Estimate estimate() {
        return source.estimate();
    }

    /** Stops the running pass. Waits for its end, in bounded time. */
    @Override
    public void close() throws IOException {
        Optional<Pass> running;
        synchronized (this) {
            closed = true;
            running = latest;
        }
        if (running.isPresent() && !running.get().job.close()) {
            LOG.warn(
                    "volume {}: the exact pass has not ended after {} s; no longer waiting for it",
                    volume,
                    RunningJob.CLOSING.toSeconds());
        }
    }
}
