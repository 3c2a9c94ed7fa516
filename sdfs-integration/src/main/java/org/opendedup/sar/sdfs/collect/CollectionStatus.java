package org.opendedup.sar.sdfs.collect;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.arrange.ArrangementReport;
import org.opendedup.sar.collect.CollectionReport;
import org.opendedup.sar.sdfs.jobs.Cause;
import org.opendedup.sar.sdfs.jobs.JobState;

/**
 * How far a collection is, or how it ended.
 *
 * @param number counts the collections of this mount from 1
 * @param stage what it does; once it has ended, what it did last
 * @param bytesDone how much of {@code bytes} is done
 * @param bytes all that there is to do in this stage, in its unit; 0 while that is not known
 * @param returnedBytes bytes given back to the file system so far
 * @param seconds time that it has run
 * @param ended null while it runs
 * @param arrangement null unless chunks were moved before the collection
 * @param report null unless it is done
 * @param failure null unless it failed
 */
public record CollectionStatus(
        long number,
        JobState state,
        Cause cause,
        boolean dryRun,
        CollectionStage stage,
        long bytesDone,
        long bytes,
        long returnedBytes,
        double seconds,
        Instant began,
        @Nullable Instant ended,
        @Nullable ArrangementReport arrangement,
        @Nullable CollectionReport report,
        @Nullable Throwable failure) {}
