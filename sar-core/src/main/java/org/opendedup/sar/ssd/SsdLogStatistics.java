package org.opendedup.sar.ssd;

/**
 * Counters of the SSD log since it was attached, and some current values.
 *
 * @param segments current number of segment files
 * @param writtenRecords records written, without those copied by cleaning
 * @param writtenBytes bytes of these
 * @param queuedBytes bytes accepted and not written yet, at present
 * @param queuedChunks chunks accepted and not written yet, at present
 * @param writeFailures batches whose write failed
 * @param readFailures reads that the SSD failed
 * @param badRecords records that differed from what was written, and were dropped
 * @param reclaimedSegments segment files deleted
 * @param cleanedSegments deleted files from which live records were copied first
 * @param cleaningBytes bytes copied for that
 */
public record SsdLogStatistics(
        long segments,
        long writtenRecords,
        long writtenBytes,
        long queuedBytes,
        long queuedChunks,
        long writeFailures,
        long readFailures,
        long badRecords,
        long reclaimedSegments,
        long cleanedSegments,
        long cleaningBytes) {}
