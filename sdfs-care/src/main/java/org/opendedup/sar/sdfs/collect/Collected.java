package org.opendedup.sar.sdfs.collect;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.sdfs.jobs.JobStatus;

/**
 * What a collection reports.
 *
 * @param dryRun whether it changes nothing
 * @param returnedBytes bytes given back to the file system so far
 * @param arrangement null unless chunks were moved before the collection
 * @param report null unless it is done
 */
public record Collected(
        boolean dryRun,
        long returnedBytes,
        @Nullable ArrangementReport arrangement,
        @Nullable CollectionReport report) {
    /** Returns what a collection reports, running or ended. */
    public static Collected of(JobStatus<Collected> collection) {
        return Objects.requireNonNull(collection.report());
    }

    /** @param bytes less those of copies that were written; below 0 while they are the most */
    Collected returned(long bytes) {
        return new Collected(dryRun, Math.max(0, bytes), arrangement, report);
    }

    Collected arranged(ArrangementReport moved) {
        return new Collected(dryRun, returnedBytes, moved, report);
    }

    Collected done(CollectionReport all) {
        return new Collected(dryRun, returnedBytes, arrangement, all);
    }
}
