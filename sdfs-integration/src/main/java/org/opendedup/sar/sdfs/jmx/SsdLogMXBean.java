package org.opendedup.sar.sdfs.jmx;

import org.jspecify.annotations.Nullable;

/**
 * The state of the SSD, statistics of its log, and operations that detach and attach it. In JMX:
 * {@code org.opendedup.sar:type=SsdLog,volume=<volume>}. Setters also store the new value in the volume file. A setter
 * throws an IllegalArgumentException for a value that is not allowed; its message names the allowed values.
 */
@Description("The SSD and the log of promoted chunks on it")
public interface SsdLogMXBean {
    @Description("none, online, read-only, suspended, detached or failed")
    @Unit("name")
    String getState();

    @Description("Folder on the SSD; empty without one")
    @Unit("path")
    String getLocation();

    @Description("Reason why the SSD is not online, or another problem; empty if there is none")
    @Unit("text")
    String getReason();

    @Description("Largest number of bytes to use on the SSD")
    @Unit("bytes")
    @Range(min = "8388608", max = "" + Long.MAX_VALUE)
    long getCapacityBytes();

    void setCapacityBytes(long capacityBytes);

    @Description("Bytes used on the SSD, including dead records and the database")
    @Unit("bytes")
    long getUsedBytes();

    @Description("Bytes of records that the Map table points to")
    @Unit("bytes")
    long getLiveBytes();

    @Description("Number of segment files")
    @Unit("files")
    long getSegments();

    @Description("Records written since the SSD was attached")
    @Unit("records")
    long getWrittenRecords();

    @Description("Bytes of these")
    @Unit("bytes")
    long getWrittenBytes();

    @Description("Bytes accepted and not written yet")
    @Unit("bytes")
    long getQueuedBytes();

    @Description("Chunks accepted and not written yet")
    @Unit("chunks")
    long getQueuedChunks();

    @Description("Batches that the SSD did not write")
    @Unit("batches")
    long getWriteFailures();

    @Description("Reads that the SSD failed")
    @Unit("reads")
    long getReadFailures();

    @Description("Damaged records, which were dropped")
    @Unit("records")
    long getBadRecords();

    @Description("Segment files deleted")
    @Unit("files")
    long getReclaimedSegments();

    @Description("Deleted segment files from which live records were copied first")
    @Unit("files")
    long getCleanedSegments();

    @Description("Bytes copied from them")
    @Unit("bytes")
    long getCleaningBytes();

    @Description("Stops using the SSD, which can then be removed; the volume is read from its disk")
    @Unit("none")
    void detach();

    @Description("Starts using an SSD: a folder that is missing or empty, or one that this volume used before")
    @Unit("none")
    void attach(
            @Name("location")
                    @Description("The folder; empty: the one that the volume file names")
                    @Unit("path")
                    @Nullable
                    String location);
}
