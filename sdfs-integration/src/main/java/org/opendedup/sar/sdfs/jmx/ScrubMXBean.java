package org.opendedup.sar.sdfs.jmx;

import org.opendedup.sar.sdfs.jobs.PaceSetting;

/**
 * Progress, pace and last result of the scrubs, and operations that start and stop one. In JMX:
 * {@code org.opendedup.sar:type=Scrub,volume=<volume>}. A pace that is set holds until the volume is unmounted.
 */
@Description("Reads and verifies everything that the volume stores")
public interface ScrubMXBean {
    @Description("True while a scrub runs")
    @Unit("true or false")
    boolean isRunning();

    @Description("What the running scrub verifies: containers, references, ssd or index; empty if none is running")
    @Unit("name")
    String getPhase();

    @Description("True if scrubs wait: the running one after the container at hand")
    @Unit("true or false")
    boolean isPaused();

    void setPaused(boolean paused);

    @Description("Bound on what a scrub reads; 0 means no bound")
    @Unit("bytes per second")
    @Range(min = "" + PaceSetting.NO_BOUND, max = "" + PaceSetting.BYTES_PER_SECOND_MAX)
    long getRateBytesPerSecond();

    void setRateBytesPerSecond(long rateBytesPerSecond);

    @Description(
            "Bytes that the running or latest scrub of this mount has verified, copies on the SSD included; 0 if there"
                    + " was none")
    @Unit("bytes")
    long getBytesDone();

    @Description("Bytes that it has to verify; 0 while that is not known")
    @Unit("bytes")
    long getBytes();

    @Description("When scrubs start, as a cron expression, or off")
    @Unit("cron expression")
    String getSchedule();

    @Description("The next time of the schedule, with its offset from UTC; empty if there is none")
    @Unit("ISO 8601")
    String getNext();

    @Description("When the last complete scrub ended, in UTC, also before this mount; empty if there was none")
    @Unit("ISO 8601")
    String getLastEnded();

    @Description("Bytes that it verified; this and the following are 0 if there was none")
    @Unit("bytes")
    long getLastBytes();

    @Description("Frames that were not what was written")
    @Unit("frames")
    long getLastDamagedFrames();

    @Description("Containers whose directories were damaged, or that were missing")
    @Unit("containers")
    long getLastDamagedContainers();

    @Description("Containers about which the metadata said something else")
    @Unit("containers")
    long getLastContradictions();

    @Description("Chunks that files refer to as other content than they are")
    @Unit("chunks")
    long getLastWrongReferences();

    @Description("Other things in the metadata that did not agree")
    @Unit("findings")
    long getLastMetadataDefects();

    @Description("Copies on the SSD that it verified")
    @Unit("copies")
    long getLastSsdCopies();

    @Description("Copies on the SSD that were not what was written, and were dropped; nothing is lost by them")
    @Unit("copies")
    long getLastWrongSsdCopies();

    @Description("Sampled entries of the fingerprint index")
    @Unit("entries")
    long getLastIndexEntries();

    @Description("Sampled entries of the index that named a chunk with other content, and were removed")
    @Unit("entries")
    long getLastWrongIndexEntries();

    @Description("Sampled entries of the index that named no stored chunk, and were removed")
    @Unit("entries")
    long getLastStaleIndexEntries();

    @Description("Sampled chunks that the index did not have: their content is stored again when it is written again")
    @Unit("chunks")
    long getLastNotIndexedChunks();

    @Description("Starts a scrub in the background, or continues one that was stopped; fails if one is running")
    @Unit("none")
    void start();

    @Description("Stops the running scrub after the container at hand; does nothing if none is running")
    @Unit("none")
    void stop();
}
