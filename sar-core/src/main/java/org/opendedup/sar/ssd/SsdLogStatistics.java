package org.opendedup.sar.ssd;

import org.opendedup.sar.common.Figure;

/**
 * Counters of the SSD log and some current values. Of an {@link SsdStore} they count since it was opened; those that
 * users see count since the volume was mounted, whatever SSDs were attached and detached meanwhile.
 */
public record SsdLogStatistics(
        @Figure(value = "Number of segment files", unit = "files")
        long segments,

        @Figure(value = "Records written since the volume was mounted", unit = "records", counter = true)
        long writtenRecords,

        @Figure(value = "Bytes of these", unit = "bytes", counter = true)
        long writtenBytes,

        @Figure(value = "Bytes accepted and not written yet", unit = "bytes")
        long queuedBytes,

        @Figure(value = "Chunks accepted and not written yet", unit = "chunks")
        long queuedChunks,

        @Figure(value = "Batches that the SSD did not write", unit = "batches", counter = true)
        long writeFailures,

        @Figure(value = "Reads that the SSD failed", unit = "reads", counter = true)
        long readFailures,

        @Figure(value = "Damaged records, which were dropped", unit = "records", counter = true)
        long badRecords,

        @Figure(value = "Segment files deleted", unit = "files", counter = true)
        long reclaimedSegments,

        @Figure(
                value = "Deleted segment files from which live records were copied first",
                unit = "files",
                counter = true)
        long cleanedSegments,

        @Figure(value = "Bytes copied from them", unit = "bytes", counter = true)
        long cleaningBytes,

        @Figure(
                value = "Bytes that the Map table's database wrote: its log, and its tables when they are written out"
                        + " and merged",
                unit = "bytes",
                counter = true)
        long tableWrittenBytes) {
    /** Without an SSD. */
    public static final SsdLogStatistics NONE = new SsdLogStatistics(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

    /** Returns all bytes that were written to the SSD: new records, copies of old ones, and the database. */
    public long allWrittenBytes() {
        return writtenBytes + cleaningBytes + tableWrittenBytes;
    }

    /** Returns these current values, with the counters of an earlier SSD added. */
    public SsdLogStatistics after(SsdLogStatistics earlier) {
        return new SsdLogStatistics(
                segments,
                writtenRecords + earlier.writtenRecords,
                writtenBytes + earlier.writtenBytes,
                queuedBytes,
                queuedChunks,
                writeFailures + earlier.writeFailures,
                readFailures + earlier.readFailures,
                badRecords + earlier.badRecords,
                reclaimedSegments + earlier.reclaimedSegments,
                cleanedSegments + earlier.cleanedSegments,
                cleaningBytes + earlier.cleaningBytes,
                tableWrittenBytes + earlier.tableWrittenBytes);
    }
}
