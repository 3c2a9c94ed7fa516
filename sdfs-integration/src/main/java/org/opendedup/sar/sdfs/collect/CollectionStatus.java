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
 * @param arranging whether it moves chunks now; the two figures of bytes are then those of the arrangement
 * @param bytesDone stored bytes of the chosen containers that are handled
 * @param bytes stored bytes of all chosen containers; 0 while they are being chosen
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
        boolean arranging,
        long bytesDone,
        long bytes,
        long returnedBytes,
        double seconds,
        Instant began,
        @Nullable Instant ended,
        @Nullable ArrangementReport arrangement,
        @Nullable CollectionReport report,
        @Nullable Throwable failure) {}
