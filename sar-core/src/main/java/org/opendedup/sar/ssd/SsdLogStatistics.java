package org.opendedup.sar.ssd;

import org.opendedup.sar.common.Figure;

/** Counters of the SSD log since it was attached, and some current values. */
public record SsdLogStatistics(
        @Figure(value = "Number of segment files", unit = "files")
        long segments,

        @Figure(value = "Records written since the SSD was attached", unit = "records")
        long writtenRecords,

        @Figure(value = "Bytes of these", unit = "bytes") long writtenBytes,

        @Figure(value = "Bytes accepted and not written yet", unit = "bytes")
        long queuedBytes,

        @Figure(value = "Chunks accepted and not written yet", unit = "chunks")
        long queuedChunks,

        @Figure(value = "Batches that the SSD did not write", unit = "batches")
        long writeFailures,

        @Figure(value = "Reads that the SSD failed", unit = "reads")
        long readFailures,

        @Figure(value = "Damaged records, which were dropped", unit = "records")
        long badRecords,

        @Figure(value = "Segment files deleted", unit = "files")
        long reclaimedSegments,

        @Figure(value = "Deleted segment files from which live records were copied first", unit = "files")
        long cleanedSegments,

        @Figure(value = "Bytes copied from them", unit = "bytes")
        long cleaningBytes) {}
