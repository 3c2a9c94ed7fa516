package org.opendedup.sar.sdfs.jmx;

/**
 * Counts of demoted chunks, progress of the running sweep, and operations that start a sweep. In JMX:
 * {@code org.opendedup.sar:type=DataDemotion,volume=<volume>}.
 */
@Description("What leaves the SSD (SAR paper §3.5)")
public interface DataDemotionMXBean {
    @Description("All chunks demoted since the volume was mounted")
    @Unit("chunks")
    long getDemotedChunks();

    @Description("Demoted because the settings changed or an administrator asked")
    @Unit("chunks")
    long getDemotedBySettings();

    @Description("Demoted to give room to what is worth more")
    @Unit("chunks")
    long getDemotedBySpace();

    @Description("Demoted because nothing refers to them any more")
    @Unit("chunks")
    long getDemotedUnreferenced();

    @Description("Dropped because their record was not what was written")
    @Unit("chunks")
    long getDemotedDamaged();

    @Description("Whether a sweep is under way")
    @Unit("true or false")
    boolean isRunning();

    @Description("Entries the sweep has looked at")
    @Unit("Map table entries")
    long getExamined();

    @Description("Entries the sweep has to look at")
    @Unit("Map table entries")
    long getToExamine();

    @Description("Demotes everything with fewer references than that, in the background")
    @Unit("none")
    void demoteBelow(
            @Name("references")
                    @Description("Chunks with this many references or more stay")
                    @Unit("references")
                    @Range(min = "1", max = "" + Integer.MAX_VALUE)
                    int references);

    @Description("Demotes everything, in the background")
    @Unit("none")
    void demoteAll();
}
