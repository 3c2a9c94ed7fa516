package org.opendedup.sar.sdfs.heal;

import java.io.IOException;
import java.time.Clock;
import java.util.Optional;
import org.opendedup.sar.heal.HealReport;
import org.opendedup.sar.heal.HealSource;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobStatus;
import org.opendedup.sar.sdfs.jobs.Jobs;
import org.opendedup.sar.sdfs.jobs.RunningJob;

/** The heals of a mounted volume that were asked for. */
public final class Heals extends Jobs<HealReport> {
    private static final String STAGE = "damaged chunks";

    private final HealSource source;

    /** @param volume name of the volume */
    public Heals(String volume, HealSource source, Clock clock) {
        super(volume, "healing", Lives.ON, clock);
        this.source = source;
    }

    /** Starts a pass over all containers with damaged chunks, as {@link Jobs#start}. */
    public Optional<JobStatus<HealReport>> start(Cause cause) throws IOException {
        return start(cause, () -> {
            source.requireAllowed();
            long chunks = source.unhealedChunks();
            return new RunningJob.Plan<>(
                    "healing of " + chunks + " damaged chunks started",
                    STAGE,
                    HealReport.NONE,
                    job -> source.run(soFar -> {
                        job.reports(() -> soFar);
                        return job.goesOn(STAGE, soFar.healedChunks() + soFar.unhealedChunks(), chunks);
                    }));
        });
    }

    @Override
    protected String words(JobStatus<HealReport> status) {
        HealReport report = status.report() == null ? HealReport.NONE : status.report();
        long missing = source.missingContainers();
        return report.healedChunks() + " chunks were healed, " + source.unhealedChunks() + " stay damaged"
                + (missing == 0 ? "" : ", and " + missing + " containers are missing");
    }

    /** Returns the number of chunks healed since the volume was mounted, also by passes that nobody asked for. */
    public long healedChunks() {
        return source.healedChunks();
    }

    /** Returns the number of chunks that are known to be damaged and not healed. */
    public long unhealedChunks() {
        return source.unhealedChunks();
    }

    /** Returns the number of containers that are missing with their packs. */
    public long missingContainers() {
        return source.missingContainers();
    }
}
