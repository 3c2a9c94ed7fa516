package org.opendedup.sar.tier.distributor;

/**
 * Counts which source served reads, since the volume was opened. While no read is running, {@code chunks} is exactly
 * the sum of {@code memoryHits}, {@code ssdHits}, {@code homeReads} and {@code unread}.
 *
 * @param chunks references to chunks that requests needed, repeated ones included; those of sequential readers count
 *     when they are read ahead
 * @param ssdHits chunks read from the SSD
 * @param ssdBytes bytes of these, before compression
 * @param ssdRequests reads of the SSD, neighbours joined
 * @param homeReads chunks whose frames had to be read from their containers
 * @param homeBytes bytes of these, before compression
 * @param memoryHits chunks that were in memory, or were being read for others
 * @param unread chunks that could not be read, or that their reader abandoned earlier
 * @param late chunks that the SSD did not return in time, so that they were read from home
 * @param ssdLatency response times of SSD reads, as seen by the waiting reader
 * @param homeLatency response times of container reads
 */
public record DistributorStatistics(
        long chunks,
        long ssdHits,
        long ssdBytes,
        long ssdRequests,
        long homeReads,
        long homeBytes,
        long memoryHits,
        long unread,
        long late,
        Latency ssdLatency,
        Latency homeLatency) {}
