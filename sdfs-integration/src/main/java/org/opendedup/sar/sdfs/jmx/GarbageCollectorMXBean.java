package org.opendedup.sar.sdfs.jmx;

import org.opendedup.sar.sdfs.jobs.PaceSetting;

/**
 * Progress, pace and last result of the garbage collections, and operations that start and stop one. In JMX:
 * {@code org.opendedup.sar:type=GarbageCollector,volume=<volume>}. A pace that is set holds until the volume is
 * unmounted; the compression is kept in the volume file. A setter throws an IllegalArgumentException for a value that
 * is not allowed; its message names the allowed values.
 */
@Description("Returns the space of deleted data to the file system")
public interface GarbageCollectorMXBean {
    @Description("True while a collection runs, also one that the volume began because a disk is full")
    @Unit("true or false")
    boolean isRunning();

    @Description("True if collections wait: the running one after the container at hand")
    @Unit("true or false")
    boolean isPaused();

    void setPaused(boolean paused);

    @Description("Bound on what a collection reads and writes; 0 means no bound")
    @Unit("bytes per second")
    @Range(min = "" + PaceSetting.NO_BOUND, max = "" + PaceSetting.BYTES_PER_SECOND_MAX)
    long getRateBytesPerSecond();

    void setRateBytesPerSecond(long rateBytesPerSecond);

    @Description("How hard collections compress anew what has stayed since the one before: off, or zstd:1 to zstd:19")
    @Unit("name")
    String getRecompress();

    void setRecompress(String recompress);

    @Description("Stored bytes that the running or latest collection has handled; 0 if there was none")
    @Unit("bytes")
    long getBytesDone();

    @Description("Stored bytes that the running or latest collection has to handle; 0 while it chooses containers")
    @Unit("bytes")
    long getBytes();

    @Description("Bytes that the running or latest collection has returned to the file system")
    @Unit("bytes")
    long getReturnedBytes();

    @Description("When collections start, as a cron expression, or off")
    @Unit("cron expression")
    String getSchedule();

    @Description("The next time of the schedule, with its offset from UTC; empty if there is none")
    @Unit("ISO 8601")
    String getNext();

    @Description("How the last collection ended that was no dry run: done, stopped or failed; empty if there was none")
    @Unit("name")
    String getLastState();

    @Description("What started it: sdfscli, JMX or the schedule; empty if there was none")
    @Unit("name")
    String getLastCause();

    @Description("When it ended, in UTC; empty if there was none")
    @Unit("ISO 8601")
    String getLastEnded();

    @Description("How long it ran")
    @Unit("seconds")
    double getLastSeconds();

    @Description("Stored bytes of all containers when it began; this and the following are 0 unless it is done")
    @Unit("bytes")
    long getLastStoredBytes();

    @Description("Stored bytes of chunks that no file referred to then, estimated")
    @Unit("bytes")
    long getLastGarbageBytes();

    @Description("Containers that it chose")
    @Unit("containers")
    long getLastVictims();

    @Description("Containers that it removed")
    @Unit("containers")
    long getLastRemoved();

    @Description("Containers that it wrote anew without their garbage")
    @Unit("containers")
    long getLastRewritten();

    @Description("Containers that it wrote anew only to compress them harder")
    @Unit("containers")
    long getLastRecompressed();

    @Description("Containers that harder compression would not have made smaller")
    @Unit("containers")
    long getLastIncompressible();

    @Description("Bytes that harder compression has saved")
    @Unit("bytes")
    long getLastRecompressSavedBytes();

    @Description("Bytes that it wrote for rewritten and recompressed containers")
    @Unit("bytes")
    long getLastCopiedBytes();

    @Description("Bytes that it returned for removed and rewritten containers, less the bytes written")
    @Unit("bytes")
    long getLastReturnedBytes();

    @Description("Bytes that it returned and no container had: what a crash or a failed write had left")
    @Unit("bytes")
    long getLastStrayBytes();

    @Description("Chosen containers that stay, because a chunk of them cannot be read")
    @Unit("containers")
    long getLastKeptContainers();

    @Description("Stored bytes of garbage that it left, estimated")
    @Unit("bytes")
    long getLastLeftBytes();

    @Description("Starts a collection in the background; fails if one is running")
    @Unit("none")
    void start();

    @Description("Stops the running collection after the container at hand; does nothing if none is running")
    @Unit("none")
    void stop();
}
