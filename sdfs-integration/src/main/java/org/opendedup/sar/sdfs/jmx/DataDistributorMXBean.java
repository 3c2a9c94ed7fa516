package org.opendedup.sar.sdfs.jmx;

/** Hits, bytes and response times by source. In JMX: {@code org.opendedup.sar:type=DataDistributor,volume=<volume>}. */
@Description("Where reads are served from (SAR paper §3.6)")
public interface DataDistributorMXBean {
    @Description("Chunks that requests wanted: those from memory, SSD and home, and those not read, together")
    @Unit("chunks")
    long getChunks();

    @Description("Chunks that could not be read, or whose reader went elsewhere before they were")
    @Unit("chunks")
    long getUnread();

    @Description("Chunks read from the SSD")
    @Unit("chunks")
    long getSsdHits();

    @Description("Bytes of these, before compression")
    @Unit("bytes")
    long getSsdBytes();

    @Description("Reads of the SSD, neighbours joined")
    @Unit("requests")
    long getSsdRequests();

    @Description("Chunks whose frames had to come from their containers")
    @Unit("chunks")
    long getHomeReads();

    @Description("Bytes of these, before compression")
    @Unit("bytes")
    long getHomeBytes();

    @Description("Chunks that were in memory, or were being brought there for others")
    @Unit("chunks")
    long getMemoryHits();

    @Description("Chunks that the SSD did not give in time, and home did")
    @Unit("chunks")
    long getLate();

    @Description("How many reads of the SSD the latencies are of")
    @Unit("reads")
    long getSsdLatencyReads();

    @Description("Mean response time of reads of the SSD")
    @Unit("microseconds")
    double getSsdLatencyMeanMicros();

    @Description("Half of the reads of the SSD took no longer")
    @Unit("microseconds")
    long getSsdLatencyP50Micros();

    @Description("95 % of the reads of the SSD took no longer")
    @Unit("microseconds")
    long getSsdLatencyP95Micros();

    @Description("99 % of the reads of the SSD took no longer")
    @Unit("microseconds")
    long getSsdLatencyP99Micros();

    @Description("99.9 % of the reads of the SSD took no longer")
    @Unit("microseconds")
    long getSsdLatencyP999Micros();

    @Description("Longest of the reads of the SSD")
    @Unit("microseconds")
    long getSsdLatencyMaxMicros();

    @Description("How many reads of containers the latencies are of")
    @Unit("reads")
    long getHomeLatencyReads();

    @Description("Mean response time of reads of containers")
    @Unit("microseconds")
    double getHomeLatencyMeanMicros();

    @Description("Half of the reads of containers took no longer")
    @Unit("microseconds")
    long getHomeLatencyP50Micros();

    @Description("95 % of the reads of containers took no longer")
    @Unit("microseconds")
    long getHomeLatencyP95Micros();

    @Description("99 % of the reads of containers took no longer")
    @Unit("microseconds")
    long getHomeLatencyP99Micros();

    @Description("99.9 % of the reads of containers took no longer")
    @Unit("microseconds")
    long getHomeLatencyP999Micros();

    @Description("Longest of the reads of containers")
    @Unit("microseconds")
    long getHomeLatencyMaxMicros();
}
