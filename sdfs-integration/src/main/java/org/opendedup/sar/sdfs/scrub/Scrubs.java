package org.opendedup.sar.sdfs.scrub;

import java.io.Closeable;
import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.metadata.ScrubCursor;
import org.opendedup.sar.metadata.ScrubRecord;
import org.opendedup.sar.metadata.ScrubTotals;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobState;
import org.opendedup.sar.sdfs.jobs.PaceSetting;
import org.opendedup.sar.sdfs.jobs.RunningJob;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The scrubs of a mounted volume, and their pace. One runs at a time, in the background. Each start, each stop, each
 * end and each change of the pace is a line in the log. Safe for use by many threads.
 */
public final class Scrubs implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(Scrubs.class);

    private final String volume;
    private final ScrubSource source;
    private final Clock clock;
    private final PaceSetting pace;
    /** The latest run. Guarded by this. */
    private Optional<RunningScrub> latest = Optional.empty();

    private long started;
    private boolean closed;

    /** @param volume name of the volume */
    public Scrubs(String volume, ScrubSource source, Clock clock) {
        this.volume = volume;
        this.source = source;
        this.clock = clock;
        pace = new PaceSetting(volume, "scrubs", source.pace(), LOG);
    }

    /**
     * Continues a scrub that was stopped, or starts a new one, and returns at once.
     *
     * @return its status; empty if {@link #running another one} is running
     * @throws IOException if none may run; the message says why
     */
    public synchronized Optional<ScrubStatus> start(Cause cause) throws IOException {
        if (closed) {
            throw new IOException("the volume is being unmounted");
        }
        if (running().isPresent()) {
            return Optional.empty();
        }
        source.requireAllowed();
        Optional<ScrubRecord> stopped = unfinished();
        ScrubTotals before = stopped.map(ScrubRecord::totals).orElse(ScrubTotals.NONE);
        ScrubCursor next = stopped.map(ScrubRecord::next).orElse(ScrubCursor.BEGIN);
        var begun = new RunningScrub(
                ++started, cause, stopped.isPresent(), next.phase(), before, source, clock, this::ended);
        latest = Optional.of(begun);
        if (stopped.isPresent()) {
            LOG.info(
                    "volume {}, by {}: the scrub that began at {} goes on; {} are verified already",
                    volume,
                    cause,
                    Instant.ofEpochMilli(stopped.get().beganMs()),
                    ByteSize.rounded(before.allBytes()));
        } else {
            LOG.info("volume {}, by {}: a scrub started", volume, cause);
        }
        begun.start();
        return Optional.of(begun.status());
    }

    /** Continues a scrub that was stopped, but not on request. Does nothing if there is none, or one is running. */
    void resume() throws IOException {
        if (unfinished().filter(record -> !record.held()).isPresent()) {
            var unused = start(Cause.MOUNT);
        }
    }

    private synchronized void ended(Runnable show) {
        show.run();
        ScrubStatus status = latest().orElseThrow();
        String time = String.format(Locale.ROOT, "after %.1f s", status.seconds());
        String verified = ScrubWords.verified(status.totals());
        if (status.state() == JobState.FAILED) {
            LOG.warn("volume {}: the scrub failed; {} were verified", volume, verified, status.failure());
        } else if (status.state() == JobState.STOPPED) {
            LOG.info(
                    "volume {}: the scrub was stopped {}; {} are verified; {}",
                    volume,
                    time,
                    verified,
                    closed ? "it goes on after the next mount" : "the next start continues it");
        } else if (status.totals().isClean()) {
            LOG.info(
                    "volume {}: the scrub ended {}; {} verified, nothing found{}",
                    volume,
                    time,
                    verified,
                    noted(status.totals()));
        } else {
            LOG.error(
                    "volume {}: the scrub ended {}; {} verified; found {}{}",
                    volume,
                    time,
                    verified,
                    ScrubWords.found(status.totals()),
                    noted(status.totals()));
        }
    }

    private static String noted(ScrubTotals totals) {
        return ScrubWords.notes(totals).stream().map(note -> "; " + note).collect(Collectors.joining());
    }

    /** Returns the run that is going on. */
    public synchronized Optional<ScrubStatus> running() {
        return latest().filter(status -> status.state() == JobState.RUNNING);
    }

    /** Returns the latest run of this mount, going on or ended. */
    public synchronized Optional<ScrubStatus> latest() {
        return latest.map(RunningScrub::status);
    }

    /** Returns the scrub that is not complete, stopped or running. */
    public Optional<ScrubRecord> unfinished() throws IOException {
        return Optional.ofNullable(source.current()).filter(record -> !record.isComplete());
    }

    /** Returns the scrub that was completed last, also before this mount. */
    public Optional<ScrubRecord> last() throws IOException {
        return Optional.ofNullable(source.last());
    }

    /** Returns when the volume was made. */
    public Instant volumeMade() {
        return source.volumeMade();
    }

    /**
     * Makes the run with this number end after the container at hand, and not go on by itself; returns at once.
     *
     * @return whether it is running
     */
    public synchronized boolean stop(Cause cause, long number) {
        Optional<RunningScrub> running = latest.filter(
                scrub -> scrub.job().number() == number && scrub.job().end() == null);
        running.ifPresent(scrub -> {
            LOG.info("volume {}, by {}: stopping the scrub", volume, cause);
            scrub.hold();
        });
        return running.isPresent();
    }

    /** Returns the pace of all scrubs of this mount. */
    public PaceSetting pace() {
        return pace;
    }

    /** Stops the running scrub, which goes on after the next mount. Waits for its end, in bounded time. */
    @Override
    public void close() throws IOException {
        Optional<RunningScrub> running;
        synchronized (this) {
            closed = true;
            running = latest;
        }
        if (running.isPresent() && !running.get().job().close()) {
            LOG.warn(
                    "volume {}: the scrub has not ended after {} s; no longer waiting for it",
                    volume,
                    RunningJob.CLOSING.toSeconds());
        }
    }
}
