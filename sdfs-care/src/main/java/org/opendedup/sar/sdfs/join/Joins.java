package org.opendedup.sar.sdfs.join;

import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.join.JoinLimits;
import org.opendedup.sar.join.JoinReport;
import org.opendedup.sar.join.JoinSource;
import org.opendedup.sar.join.LossSample;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.Jobs;
import org.opendedup.sar.sdfs.jobs.RunningJob;

/** The exact passes of a mounted volume but for those before collections. */
public final class Joins extends Jobs<JoinReport> {
    private final JoinSource source;

    /** @param volume name of the volume */
    public Joins(String volume, JoinSource source, Clock clock) {
        super(volume, "exact pass", Lives.ON, clock);
        this.source = source;
    }

    /**
     * Starts a pass, as {@link Jobs#start}. One because of {@link Cause#IDLE} joins only what is worth it, and gives
     * way.
     */
    public Optional<JobStatus<JoinReport>> start(Cause cause) throws IOException {
        return start(cause, () -> {
            source.requireAllowed();
            return new RunningJob.Plan<>(
                    "an exact pass started",
                    JoinSource.COMPARING,
                    null,
                    job -> cause == Cause.IDLE
                            ? source.runGivingWay(JoinLimits.WORTHWHILE, job)
                            : source.run(JoinLimits.ALL, job));
        });
    }

    @Override
    protected String words(JobStatus<JoinReport> status) {
        JoinReport report = status.report();
        return report == null
                ? ""
                : ByteSize.rounded(report.foundBytes()) + " were stored more than once, "
                        + ByteSize.rounded(report.joinedBytes()) + " of these are garbage now";
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
        return worthwhile && quiet && start(Cause.IDLE).isPresent();
    }

    /** Returns how much is estimated to be stored more than once. */
    public LossSample.Estimate estimate() {
        return source.estimate();
    }
}
