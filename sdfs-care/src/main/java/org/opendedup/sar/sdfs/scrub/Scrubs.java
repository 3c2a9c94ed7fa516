package org.opendedup.sar.sdfs.scrub;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Clock;
import java.time.Instant;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.metadata.record.ScrubCursor;
import org.opendedup.sar.metadata.record.ScrubRecord;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.scrub.ScrubSource;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobState;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.Jobs;
import org.opendedup.sar.sdfs.jobs.PaceSetting;
import org.opendedup.sar.sdfs.jobs.RunningJob;

/** The scrubs of a mounted volume, and their pace. */
public final class Scrubs extends Jobs<ScrubRun> {
    private final ScrubSource source;
    private final PaceSetting pace;
    /** Whether the running scrub was stopped on request, and does not go on by itself. */
    private volatile boolean held;

    /** @param volume name of the volume */
    public Scrubs(String volume, ScrubSource source, Clock clock) {
        super(volume, "scrub", Lives.ON, clock);
        this.source = source;
        pace = new PaceSetting(volume, "scrubs", source.pace(), log());
    }

    /** Continues a scrub that was stopped, or starts a new one, as {@link Jobs#start}. */
    public Optional<JobStatus<ScrubRun>> start(Cause cause) throws IOException {
        return start(cause, () -> {
            source.requireAllowed();
            Optional<ScrubRecord> stopped = unfinished();
            ScrubTotals before = stopped.map(ScrubRecord::totals).orElse(ScrubTotals.NONE);
            ScrubCursor next = stopped.map(ScrubRecord::next).orElse(ScrubCursor.BEGIN);
            held = false;
            return new RunningJob.Plan<>(
                    stopped.map(Scrubs::goesOn).orElse("a scrub started"),
                    stage(next),
                    new ScrubRun(stopped.isPresent(), before.allBytes(), before),
                    this::run);
        });
    }

    private static String goesOn(ScrubRecord stopped) {
        return "the scrub that began at " + Instant.ofEpochMilli(stopped.beganMs()) + " goes on; "
                + ByteSize.rounded(stopped.totals().allBytes()) + " are verified already";
    }

    private ScrubRun run(RunningJob<ScrubRun> job) throws IOException {
        ScrubRun first = Objects.requireNonNull(job.report());
        try {
            return first.now(source.run((totals, restBytes, next) -> {
                        job.reports(() -> first.now(totals));
                        return job.goesOn(stage(next), totals.allBytes(), totals.allBytes() + restBytes);
                    })
                    .totals());
        } catch (InterruptedIOException e) {
            if (held) {
                source.hold();
            }
            throw e;
        }
    }

    private static String stage(ScrubCursor next) {
        return next.phase().name().toLowerCase(Locale.ROOT);
    }

    /** Continues a scrub that was stopped, but not on request. Does nothing if there is none, or one is running. */
    void resume() throws IOException {
        if (unfinished().filter(record -> !record.held()).isPresent()) {
            var unused = start(Cause.MOUNT);
        }
    }

    @Override
    protected String words(JobStatus<ScrubRun> status) {
        ScrubTotals totals = Objects.requireNonNull(status.report()).totals();
        String verified = ScrubWords.verified(totals) + " verified";
        if (status.state() != JobState.DONE) {
            return verified + (isClosed() ? "; it goes on after the next mount" : "; the next start continues it");
        }
        return verified
                + (totals.isClean() ? ", nothing found" : "; found " + ScrubWords.found(totals))
                + ScrubWords.notes(totals).stream().map(note -> "; " + note).collect(Collectors.joining());
    }

    @Override
    protected boolean isBad(ScrubRun result) {
        return !result.totals().isClean();
    }

    /** As {@link Jobs#stop}; it does not go on by itself. */
    @Override
    public synchronized boolean stop(Cause cause, long number) {
        held |= running().filter(status -> status.number() == number).isPresent();
        return super.stop(cause, number);
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

    /** Returns the pace of all scrubs of this mount. */
    public PaceSetting pace() {
        return pace;
    }
}
