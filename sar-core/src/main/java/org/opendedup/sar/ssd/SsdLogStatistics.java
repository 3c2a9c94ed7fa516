package org.opendedup.sar.ssd;

/**
 * The SSD log's figures since it was attached, but for those that are of now.
 *
 * @param segments segment files now
 * @param writtenRecords records written, those copied by cleaning not included
 * @param writtenBytes bytes of these
 * @param queuedBytes bytes taken and not written yet, now
 * @param queueDrops offers dropped because too much was on its way
 * @param writeFailures batches that the SSD did not take
 * @param readFailures reads that the SSD failed
 * @param badRecords records that were not what was written, and were dropped
 * @param reclaimedSegments segment files deleted
 * @param cleanedSegments of these, those from which something was copied first
 * @param cleaningBytes bytes copied for that
 */
public record SsdLogStatistics(
        long segments,
        long writtenRecords,
        long writtenBytes,
        long queuedBytes,
        long queueDrops,
        long writeFailures,
        long readFailures,
        long badRecords,
        long reclaimedSegments,
        long cleanedSegments,
        long cleaningBytes) {}
