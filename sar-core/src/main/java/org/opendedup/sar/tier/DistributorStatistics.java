package org.opendedup.sar.tier;

/**
 * Where reads were served from, since the volume was opened.
 *
 * @param ssdHits chunks read from the SSD
 * @param ssdBytes bytes of these, before compression
 * @param ssdRequests reads of the SSD, neighbours joined
 * @param homeReads chunks whose frames had to come from their containers
 * @param homeBytes bytes of these, before compression
 * @param memoryHits chunks whose frames were in memory
 * @param late chunks the SSD did not give in time, and home did
 * @param ssdLatency of reads of the SSD, as the waiting reader sees them
 * @param homeLatency of reads of containers
 */
public record DistributorStatistics(
        long ssdHits,
        long ssdBytes,
        long ssdRequests,
        long homeReads,
        long homeBytes,
        long memoryHits,
        long late,
        Latency ssdLatency,
        Latency homeLatency) {}
