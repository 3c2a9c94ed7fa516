package org.opendedup.sar.sdfs.jmx;

import java.util.List;

/**
 * What is damaged on a volume, and the healing. In JMX: {@code org.opendedup.sar:type=Heal,volume=<volume>}. The volume
 * also heals by itself, after damage was found and after content was written again.
 */
@Description("Lists damaged chunks, and gives them their bytes back")
public interface HealMXBean {
    @Description("True while a pass runs that was asked for")
    @Unit("true or false")
    boolean isRunning();

    @Description("Chunks with references that are known to be damaged and not healed")
    @Unit("chunks")
    long getDamagedChunks();

    @Description("Chunks that were healed since the volume was mounted, also by passes that nobody asked for")
    @Unit("chunks")
    long getHealedChunks();

    @Description("How the last pass ended that was asked for: done, stopped or failed; empty if there was none")
    @Unit("name")
    String getLastState();

    @Description("When it ended, in UTC; empty if there was none")
    @Unit("ISO 8601")
    String getLastEnded();

    @Description("Chunks that it healed")
    @Unit("chunks")
    long getLastHealedChunks();

    @Description("Lists what is damaged, a place a line: missing packs, frames and slots of containers")
    @Unit("text")
    List<String> listDamage();

    @Description("Starts a pass over all damaged chunks in the background; fails if one is running")
    @Unit("none")
    void start();

    @Description("Stops the running pass after the container at hand; does nothing if none is running")
    @Unit("none")
    void stop();
}
