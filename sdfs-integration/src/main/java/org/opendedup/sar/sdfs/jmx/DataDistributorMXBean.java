package org.opendedup.sar.sdfs.jmx;

/** Hits, bytes and response times by source. In JMX: {@code org.opendedup.sar:type=DataDistributor,volume=<volume>}. */
@Description("Sources of reads (SAR paper §3.6)")
public interface DataDistributorMXBean {
    @Description("Chunks that requests wanted: those from memory, SSD and home, and those not read, together")
    @Unit("chunks")
    long getChunks();

    @Description("Chunks that could not be read, or that the reader no longer wanted")
    @Unit("chunks")
    long getUnread();

    @Description("Chunks read from the SSD")
    @Unit("chunks")
    long getSsdHits();

    @Description("Bytes of these, before compression")
    @Unit("bytes")
    long getSsdBytes();

    @Description("Reads of the SSD; a read may cover neighbouring chunks")
    @Unit("requests")
    long getSsdRequests();

    @Description("Chunks whose frames were read from their containers")
    @Unit("chunks")
    long getHomeReads();

    @Description("Bytes of these, before compression")
    @Unit("bytes")
    long getHomeBytes();

    @Description("Chunks that were in memory, or were being read into memory for other readers")
    @Unit("chunks")
    long getMemoryHits();

    @Description("Chunks that were read from home because the SSD was too slow")
    @Unit("chunks")
    long getLate();

    @Description("Number of SSD reads that the latencies count")
    @Unit("reads")
    long getSsdLatencyReads();

    @Description("Mean response time of reads of the SSD")
    @Unit("microseconds")
    double getSsdLatencyMeanMicros();

    @Description("Response time that half of the reads of the SSD did not exceed")
    @Unit("microseconds")
    long getSsdLatencyP50Micros();

    @Description("Response time that 95 % of the reads of the SSD did not exceed")
    @Unit("microseconds")
    long getSsdLatencyP95Micros();

    @Description("Response time that 99 % of the reads of the SSD did not exceed")
    @Unit("microseconds")
    long getSsdLatencyP99Micros();

    @Description("Response time that 99.9 % of the reads of the SSD did not exceed")
    @Unit("microseconds")
    long getSsdLatencyP999Micros();

    @Description("Longest response time of reads of the SSD")
    @Unit("microseconds")
    long getSsdLatencyMaxMicros();

    @Description("Number of container reads that the latencies count")
    @Unit("reads")
    long getHomeLatencyReads();

    @Description("Mean response time of reads of containers")
    @Unit("microseconds")
    double getHomeLatencyMeanMicros();

    @Description("Response time that half of the reads of containers did not exceed")
    @Unit("microseconds")
    long getHomeLatencyP50Micros();

    @Description("Response time that 95 % of the reads of containers did not exceed")
    @Unit("microseconds")
    long getHomeLatencyP95Micros();

    @Description("Response time that 99 % of the reads of containers did not exceed")
    @Unit("microseconds")
    long getHomeLatencyP99Micros();

    @Description("Response time that 99.9 % of the reads of containers did not exceed")
    @Unit("microseconds")
    long getHomeLatencyP999Micros();

    @Description("Longest response time of reads of containers")
    @Unit("microseconds")
    long getHomeLatencyMaxMicros();
}
