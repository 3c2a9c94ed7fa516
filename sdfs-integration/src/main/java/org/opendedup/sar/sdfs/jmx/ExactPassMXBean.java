package org.opendedup.sar.sdfs.jmx;

/**
 * Progress and last result of the exact passes, and operations that start and stop one. In JMX:
 * {@code org.opendedup.sar:type=ExactPass,volume=<volume>}. Passes before scheduled collections are not counted.
 */
@Description("Joins chunks that are stored more than once, because the fingerprint index did not find them")
public interface ExactPassMXBean {
    @Description("True while a pass runs")
    @Unit("true or false")
    boolean isRunning();

    @Description("What the running pass does, or the latest did last: comparing or joining; empty if there was none")
    @Unit("name")
    String getPhase();

    @Description("How much of the phase is done: containers while it compares, bytes of files while it joins")
    @Unit("containers or bytes")
    long getDone();

    @Description("All that the phase has to do, in the same unit")
    @Unit("containers or bytes")
    long getOf();

    @Description("Estimated bytes of second and further copies of chunks that are stored, before compression")
    @Unit("bytes")
    long getStoredTwiceBytes();

    @Description("What started the latest pass: sdfscli, JMX or an idle volume; empty if there was none")
    @Unit("name")
    String getLastCause();

    @Description("State of the latest pass: running, done, stopped or failed; empty if there was none")
    @Unit("name")
    String getLastState();

    @Description("How long it has run")
    @Unit("seconds")
    double getLastSeconds();

    @Description("Bytes of second and further copies that it found; this and the following are 0 unless it is done")
    @Unit("bytes")
    long getLastFoundBytes();

    @Description("Bytes of these to which no file refers any more: the next collection returns their space")
    @Unit("bytes")
    long getLastJoinedBytes();

    @Description("Copies that were to be kept and could not be read")
    @Unit("chunks")
    long getLastUnreadableChunks();

    @Description("Starts a pass in the background that joins all that it finds; fails if one is running")
    @Unit("none")
    void start();

    @Description("Stops the running pass; what is joined stays joined. Does nothing if none is running")
    @Unit("none")
    void stop();
}
