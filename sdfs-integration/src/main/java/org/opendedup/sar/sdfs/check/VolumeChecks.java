package org.opendedup.sar.sdfs.check;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.check.CheckProgress;
import org.opendedup.sar.check.Finding;
import org.opendedup.sar.check.StoredVolume;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobState;
import org.opendedup.sar.sdfs.jobs.RunningJob;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The checks of a mounted volume that were asked for. One runs at a time, in the background. Each start and each end is
 * a line in the log, and so is each finding. Safe for use by many threads.
 */
public final class VolumeChecks implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeChecks.class);

    /** Findings of which each has a line in the log. */
    private static final int MOST_LINES = 100;

    private final String volume;
    private final Source source;
    private final Clock clock;
    private volatile String step = "";
    /** The latest check. Guarded by this, as are the next two. */
    private @Nullable RunningJob<StoredVolume.Report> latest;

    private long started;
    private boolean closed;

    /** Checks the volume. */
    @FunctionalInterface
    public interface Source {
        /** @throws InterruptedIOException if {@code progress} stopped it */
        StoredVolume.Report run(CheckProgress progress) throws IOException;
    }

    /**
     * How far a check is, or how it ended.
     *
     * @param step what it does, for people
     * @param ended null while it runs
     * @param report what it found; null unless it is done
     * @param failure null unless it failed
     */
    public record Status(
            JobState state,
            String step,
            @Nullable Instant ended,
            StoredVolume.@Nullable Report report,
            @Nullable Throwable failure) {}

    /** @param volume name of the volume */
    public VolumeChecks(String volume, Source source, Clock clock) {
        this.volume = volume;
        this.source = source;
        this.clock = clock;
    }

    /**
     * Starts a check, and returns at once.
     *
     * @return false if one is running
     * @throws IOException if the volume is being unmounted
     */
    public synchronized boolean start(Cause cause) throws IOException {
        if (closed) {
            throw new IOException("the volume is being unmounted");
        }
        if (latest != null && latest.end() == null) {
            return false;
        }
        var begun = new RunningJob<StoredVolume.Report>(++started, cause, "sdfs-check", clock, this::ended);
        latest = begun;
        LOG.info("volume {}, by {}: a check started", volume, cause);
        begun.start(() -> source.run((what, done, of) -> {
            step = of == 0 ? what : what + ", " + done + " of " + of;
            if (!begun.goesOn()) {
                throw new InterruptedIOException("the check was stopped");
            }
        }));
        return true;
    }

    private synchronized void ended(Runnable show) {
        show.run();
        Status status = status().orElseThrow();
        StoredVolume.Report report = status.report();
        if (report == null) {
            LOG.warn("volume {}: the check was {}", volume, status.state(), status.failure());
            return;
        }
        LOG.info("volume {}: the check of {} containers ended", volume, report.containers());
        List<Finding> findings = report.findings();
        findings.stream().limit(MOST_LINES).forEach(finding -> LOG.warn("volume {}: {}", volume, line(finding)));
        if (findings.size() > MOST_LINES) {
            LOG.warn("volume {}: and {} more findings", volume, findings.size() - MOST_LINES);
        }
    }

    /** Returns all of a finding on one line. */
    public static String line(Finding finding) {
        return finding.severity() + ": " + finding.what() + (finding.mend().isEmpty() ? "" : "; " + finding.mend());
    }

    /** Returns the latest check of this mount, going on or ended. */
    public synchronized Optional<Status> status() {
        RunningJob<StoredVolume.Report> job = latest;
        if (job == null) {
            return Optional.empty();
        }
        RunningJob.End<StoredVolume.Report> end = job.end();
        return Optional.of(
                end == null
                        ? new Status(JobState.RUNNING, step, null, null, null)
                        : new Status(end.state(), "", end.ended(), end.result(), end.failure()));
    }

    /** Makes the running check end soon; does nothing if none is running. */
    public synchronized void stop() {
        if (latest != null) {
            latest.stop();
        }
    }

    /** Stops the running check. Waits for its end, in bounded time. */
    @Override
    public void close() throws IOException {
        RunningJob<StoredVolume.Report> running;
        synchronized (this) {
            closed = true;
            running = latest;
        }
        if (running != null && !running.close()) {
            LOG.warn("volume {}: the check has not ended; no longer waiting for it", volume);
        }
    }
}
