package org.opendedup.sar.metadata.remote;

import org.opendedup.sar.common.Figure;

/** What metadata in an object store have to do with the local database. */
public record ShippingStatistics(
        @Figure(value = "Metadata not in the object store yet", unit = "bytes")
        long waitingBytes,

        @Figure(value = "Age of the oldest metadata not in the object store", unit = "milliseconds")
        long waitingMs,

        @Figure(value = "Log segments of metadata put into the object store", unit = "segments", counter = true)
        long segments,

        @Figure(value = "Bytes of log segments put into the object store", unit = "bytes", counter = true)
        long segmentBytes,

        @Figure(value = "Metadata checkpoints put into the object store", unit = "checkpoints", counter = true)
        long checkpoints,

        @Figure(value = "Bytes of metadata checkpoints put into the object store", unit = "bytes", counter = true)
        long checkpointBytes,

        @Figure(value = "Log bytes since the last metadata checkpoint", unit = "bytes")
        long logBytes) {
    /** Of metadata that do not follow into a store. */
    public static final ShippingStatistics NONE = new ShippingStatistics(0, 0, 0, 0, 0, 0, 0);
}
