package org.opendedup.sar.sdfs.scrub;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Clock;
import java.util.function.Consumer;
import org.opendedup.sar.metadata.ScrubCursor;
import org.opendedup.sar.metadata.ScrubPhase;
import org.opendedup.sar.metadata.ScrubRecord;
import org.opendedup.sar.metadata.ScrubTotals;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobState;
import org.opendedup.sar.sdfs.jobs.RunningJob;

/** A run of a scrub, and its thread. Safe for use by many threads. */
final class RunningScrub {
    private final boolean continued;
    private final ScrubSource source;
    private final RunningJob<ScrubRecord> job;
    private volatile Progress progress;
    private volatile boolean held;

    /** @param bytesResumed bytes that were verified when this run began */
    private record Progress(ScrubPhase phase, ScrubTotals totals, long bytesResumed, long bytes) {}

    /**
     * @param phase what it begins with
     * @param before what earlier runs of the same scrub have verified
     * @param atEnd gets the action that shows the end, once, and runs it
     */
    RunningScrub(
            long number,
            Cause cause,
            boolean continued,
            ScrubPhase phase,
            ScrubTotals before,
            ScrubSource source,
            Clock clock,
            Consumer<Runnable> atEnd) {
        this.continued = continued;
        this.source = source;
        progress = new Progress(phase, before, before.allBytes(), 0);
        job = new RunningJob<>(number, cause, "sdfs-scrub", clock, atEnd);
    }

    void start() {
        job.start(this::work);
    }

    /** Makes it end after the container at hand, and not go on by itself. */
    void hold() {
        held = true;
        job.stop();
    }

    RunningJob<ScrubRecord> job() {
        return job;
    }

    private ScrubRecord work() throws IOException {
        try {
            return source.run(this::verified);
        } catch (InterruptedIOException e) {
            if (held) {
                source.hold();
            }
            throw e;
        }
    }

    private boolean verified(ScrubTotals totals, long restBytes, ScrubCursor next) {
        progress = new Progress(next.phase(), totals, progress.bytesResumed(), totals.allBytes() + restBytes);
        return job.goesOn();
    }

    ScrubStatus status() {
        RunningJob.End<ScrubRecord> ended = job.end();
        // Read after the end, so that the progress is not older than the state.
        Progress now = progress;
        return new ScrubStatus(
                job.number(),
                ended == null ? JobState.RUNNING : ended.state(),
                job.cause(),
                continued,
                now.phase(),
                now.bytesResumed(),
                now.bytes(),
                ended == null || ended.result() == null
                        ? now.totals()
                        : ended.result().totals(),
                ended == null ? job.seconds() : ended.seconds(),
                job.began(),
                ended == null ? null : ended.ended(),
                ended == null ? null : ended.failure());
    }
}
