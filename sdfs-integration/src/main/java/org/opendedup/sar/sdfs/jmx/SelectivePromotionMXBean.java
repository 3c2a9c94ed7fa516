package org.opendedup.sar.sdfs.jmx;

/**
 * What is promoted, and by which parameters. In JMX: {@code org.opendedup.sar:type=SelectivePromotion,volume=<volume>}.
 * What is set is kept in the volume file; a value that is not allowed throws an IllegalArgumentException that says what
 * is.
 */
@Description("What is copied to the SSD (SAR paper §3.4)")
public interface SelectivePromotionMXBean {
    @Description("Whether chunks are promoted; what is on the SSD is read from there in any case")
    @Unit("true or false")
    boolean isEnabled();

    void setEnabled(boolean enabled);

    @Description("References from which the policy reference-count promotes a chunk that is written again")
    @Unit("references")
    int getReferenceCountThreshold();

    void setReferenceCountThreshold(int referenceCountThreshold);

    @Description("Runs of neighbouring chunks as long as this or longer stay on the disk")
    @Unit("bytes")
    int getMaxRunBytes();

    void setMaxRunBytes(int maxRunBytes);

    @Description("Whether a second read from the disk promotes as well")
    @Unit("true or false")
    boolean isPromoteOnRead();

    void setPromoteOnRead(boolean promoteOnRead);

    @Description("What makes a chunk worth its place: reference-count or cost")
    @Unit("name")
    String getPolicy();

    void setPolicy(String policy);

    @Description("All chunks promoted since the volume was mounted")
    @Unit("chunks")
    long getPromotedChunks();

    @Description("Bytes of these, before compression")
    @Unit("bytes")
    long getPromotedBytes();

    @Description("Promoted when a duplicate was written")
    @Unit("chunks")
    long getPromotedByWrite();

    @Description("Promoted when read from the disk a second time")
    @Unit("chunks")
    long getPromotedByRead();

    @Description("Promoted because a file wants little of their container")
    @Unit("chunks")
    long getPromotedByRecipe();

    @Description("Not promoted: too few references")
    @Unit("chunks")
    long getRefusedCount();

    @Description("Not promoted: part of a long run")
    @Unit("chunks")
    long getRefusedRun();

    @Description("Not promoted: on the SSD already")
    @Unit("chunks")
    long getRefusedPresent();

    @Description("Not promoted: too much was on its way to the SSD")
    @Unit("chunks")
    long getRefusedQueue();

    @Description("Not promoted: worth less than what is on the full SSD")
    @Unit("chunks")
    long getRefusedRank();

    @Description("Not promoted: no SSD, or it took no writes")
    @Unit("chunks")
    long getRefusedUnavailable();
}
