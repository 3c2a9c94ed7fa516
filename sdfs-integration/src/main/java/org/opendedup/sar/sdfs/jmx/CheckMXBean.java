package org.opendedup.sar.sdfs.jmx;

import java.util.List;

/**
 * Checks of a volume in use. In JMX: {@code org.opendedup.sar:type=Check,volume=<volume>}, in the process of an SDFS
 * with the plugin.
 */
@Description("Compares containers, container table, counts, index and Map table, without reading chunks")
public interface CheckMXBean {
    @Description("True while a check runs")
    @Unit("true or false")
    boolean isRunning();

    @Description("What the running check does; empty if none is running")
    @Unit("text")
    String getStep();

    @Description("How the last check of this mount ended: done, stopped or failed; empty if there was none")
    @Unit("name")
    String getLastState();

    @Description("When it ended, in UTC; empty if there was none")
    @Unit("ISO 8601")
    String getLastEnded();

    @Description("Containers that it compared")
    @Unit("containers")
    long getLastContainers();

    @Description("What it found, with what to do, a finding a line; empty if nothing, or if there was none")
    @Unit("text")
    List<String> getLastFindings();

    @Description("Starts a check in the background; fails if one is running")
    @Unit("none")
    void start();

    @Description("Stops the running check; does nothing if none is running")
    @Unit("none")
    void stop();
}
