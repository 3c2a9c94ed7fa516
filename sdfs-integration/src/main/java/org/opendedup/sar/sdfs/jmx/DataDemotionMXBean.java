package org.opendedup.sar.sdfs.jmx;

/**
 * Counts of demoted chunks, progress of the running sweep, and operations that start a sweep. In JMX:
 * {@code org.opendedup.sar:type=DataDemotion,volume=<volume>}.
 */
@Description("Removal of chunks from the SSD (SAR paper §3.5)")
public interface DataDemotionMXBean {
    @Description("Chunks demoted since the volume was mounted")
    @Unit("chunks")
    long getDemotedChunks();

    @Description("Chunks demoted because the settings changed or on request")
    @Unit("chunks")
    long getDemotedBySettings();

    @Description("Chunks demoted to make room for chunks of more value")
    @Unit("chunks")
    long getDemotedBySpace();

    @Description("Chunks demoted because no file refers to them any more")
    @Unit("chunks")
    long getDemotedUnreferenced();

    @Description("Chunks dropped because their record was damaged")
    @Unit("chunks")
    long getDemotedDamaged();

    @Description("True while a sweep runs")
    @Unit("true or false")
    boolean isRunning();

    @Description("Entries that the sweep has examined")
    @Unit("Map table entries")
    long getExamined();

    @Description("Entries that the sweep has to examine")
    @Unit("Map table entries")
    long getToExamine();

    @Description("Demotes all chunks with fewer references than the argument, in the background")
    @Unit("none")
    void demoteBelow(
            @Name("references")
                    @Description("Chunks with this many references or more stay")
                    @Unit("references")
                    @Range(min = "1", max = "" + Integer.MAX_VALUE)
                    int references);

    @Description("Demotes all chunks, in the background")
    @Unit("none")
    void demoteAll();
}
