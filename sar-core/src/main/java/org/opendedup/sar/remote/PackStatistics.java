package org.opendedup.sar.remote;

import org.opendedup.sar.common.Figure;

/** What the packs in a local folder have to do with those in the object store. */
public record PackStatistics(
        @Figure(value = "Containers not in the object store yet", unit = "bytes")
        long waitingPackBytes,

        @Figure(value = "Age of the oldest containers not in the object store", unit = "milliseconds")
        long waitingPackMs,

        @Figure(value = "Containers in the local folder that the object store has, too", unit = "bytes")
        long folderBytes,

        @Figure(
                value = "Bytes of containers read in the local folder since the volume was mounted",
                unit = "bytes",
                counter = true)
        long folderReadBytes,

        @Figure(
                value = "Bytes of containers read in the local cache of ranges since the volume was mounted",
                unit = "bytes",
                counter = true)
        long cacheReadBytes,

        @Figure(
                value = "Mounts elsewhere that read the volume, as the object store said in the last five minutes",
                unit = "mounts")
        long readers,

        @Figure(value = "Deleted packs that are still in the object store", unit = "packs")
        long deletedPacks,

        @Figure(value = "Time to the first byte of a range, by the requests that were made", unit = "milliseconds")
        double rangeLatencyMillis,

        @Figure(
                value = "Rate of one range after its first byte, beside the others, in millions of bytes",
                unit = "MB per second")
        double laneMbPerSecond,

        @Figure(
                value = "Ranges that are read ahead at the same time: as many as make the store fastest",
                unit = "lanes")
        int lanes,

        @Figure(
                value = "Whether latency and rate of ranges are assumed, until enough is read, or measured",
                unit = "name")
        String rangeSource) {}
