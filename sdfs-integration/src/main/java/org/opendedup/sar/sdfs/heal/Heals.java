package org.opendedup.sar.sdfs.heal;

import java.io.Closeable;
import java.io.IOException;
import java.time.Clock;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobState;
import org.opendedup.sar.sdfs.jobs.RunningJob;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The heals of a mounted volume that were asked for. One runs at a time, in the background. Each start, each stop and
 * each end is a line in the log. Safe for use by many threads.
 */
public final class Heals implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(Heals.class);

    private final String volume;
    private final HealSource source;
    private final Clock clock;
    /** The latest pass. Guarded by this, as are the next two. */
    private Optional<Pass> latest = Optional.empty();

    private long started;
    private boolean closed;

    /** A pass and its thread. */
    private static final class Pass {
        private final RunningJob<HealReport> job;
        private final HealSource source;
        private final long chunks;
        private volatile HealReport soFar = HealReport.NONE;

        Pass(long number, Cause cause, HealSource source, Clock clock, Consumer<Runnable> atEnd) {
            this.source = source;
            chunks = source.unhealedChunks();
            job = new RunningJob<>(number, cause, "sdfs-heal", clock, atEnd);
        }

        void start() {
            job.start(() -> source.run(report -> {
                soFar = report;
                return job.goesOn();
            }));
        }

        HealStatus status() {
            RunningJob.End<HealReport> end = job.end();
            // Read after the end, so that the report is not older than the state.
            HealReport report = soFar;
            return new HealStatus(
                    job.number(),
                    end == null ? JobState.RUNNING : end.state(),
                    job.cause(),
                    chunks,
                    end == null || end.result() == null ? report : end.result(),
                    end == null ? job.seconds() : end.seconds(),
                    job.began(),
                    end == null ? null : end.ended(),
                    end == null ? null : end.failure());
        }
    }

    /** @param volume name of the volume */
    public Heals(String volume, HealSource source, Clock clock) {
        this.volume = volume;
        this.source = source;
        this.clock = clock;
    }

    /**
     * Starts a pass over all containers with damaged chunks, and returns at once.
     *
     * @return its status; empty if {@link #running another one} is running
     * @throws IOException if none may run; the message says why
     */
    public synchronized Optional<HealStatus> start(Cause cause) throws IOException {
        if (closed) {
            throw new IOException("the volume is being unmounted");
        }
        if (running().isPresent()) {
            return Optional.empty();
        }
        source.requireAllowed();
        Pass begun = new Pass(++started, cause, source, clock, this::ended);
        latest = Optional.of(begun);
        LOG.info("volume {}, by {}: healing of {} damaged chunks started", volume, cause, begun.chunks);
        begun.start();
        return Optional.of(begun.status());
    }

    private synchronized void ended(Runnable show) {
        show.run();
        HealStatus status = latest().orElseThrow();
        String time = String.format(Locale.ROOT, "after %.1f s", status.seconds());
        long healed = status.report().healedChunks();
        if (status.state() == JobState.FAILED) {
            LOG.warn("volume {}: the healing failed; {} chunks were healed", volume, healed, status.failure());
        } else if (status.state() == JobState.STOPPED) {
            LOG.info("volume {}: the healing was stopped {}; {} chunks were healed", volume, time, healed);
        } else {
            LOG.info(
                    "volume {}: the healing ended {}; {} chunks were healed, {} stay damaged",
                    volume,
                    time,
                    healed,
                    source.unhealedChunks());
        }
    }

    /** Returns the pass that is going on. */
    public synchronized Optional<HealStatus> running() {
        return latest().filter(status -> status.state() == JobState.RUNNING);
    }

    /** Returns the latest pass of this mount that was asked for, going on or ended. */
    public synchronized Optional<HealStatus> latest() {
        return latest.map(Pass::status);
    }

    /**
     * Makes the pass with this number end after the container at hand; returns at once.
     *
     * @return whether it is running
     */
    public synchronized boolean stop(Cause cause, long number) {
        Optional<Pass> running = latest.filter(pass -> pass.job.number() == number && pass.job.end() == null);
        running.ifPresent(pass -> {
            LOG.info("volume {}, by {}: stopping the healing", volume, cause);
            pass.job.stop();
        });
        return running.isPresent();
    }

    /** Returns the number of chunks healed since the volume was mounted, also by passes that nobody asked for. */
    public long healedChunks() {
        return source.healedChunks();
    }

    /** Returns the number of chunks that are known to be damaged and not healed. */
    public long unhealedChunks() {
        return source.unhealedChunks();
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
                    "volume {}: the healing has not ended after {} s; no longer waiting for it",
                    volume,
                    RunningJob.CLOSING.toSeconds());
        }
    }
}
