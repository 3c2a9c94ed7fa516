package org.opendedup.sar.sdfs.jmx;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.tier.policy.TierSettings;

/**
 * Counts of promoted and refused chunks, and the parameters of promotion. In JMX:
 * {@code org.opendedup.sar:type=SelectivePromotion,volume=<volume>}. Setters also store the new value in the volume
 * file. A setter throws an IllegalArgumentException for a value that is not allowed; its message names the allowed
 * values.
 */
@Description("What is copied to the SSD (SAR paper §3.4)")
public interface SelectivePromotionMXBean {
    @Description("Whether chunks are promoted; what is on the SSD is read from there in any case")
    @Unit("true or false")
    boolean isEnabled();

    void setEnabled(boolean enabled);

    @Description("References from which the policy reference-count promotes a chunk that is written again")
    @Unit("references")
    @Range(min = "" + TierSettings.THRESHOLD_MIN, max = "" + Integer.MAX_VALUE)
    int getReferenceCountThreshold();

    void setReferenceCountThreshold(int referenceCountThreshold);

    @Description("Runs of neighbouring chunks as long as this or longer stay on the disk")
    @Unit("bytes")
    @Range(min = "" + TierSettings.RUN_BYTES_MIN, max = "" + TierSettings.RUN_BYTES_MAX)
    int getMaxRunBytes();

    void setMaxRunBytes(int maxRunBytes);

    @Description("Whether a second read from the disk promotes as well")
    @Unit("true or false")
    boolean isPromoteOnRead();

    void setPromoteOnRead(boolean promoteOnRead);

    @Description("What makes a chunk worth its place: reference-count or cost")
    @Unit("name")
    @LegalValues({"reference-count", "cost"})
    String getPolicy();

    void setPolicy(@Nullable String policy);

    @Description("All that was offered since the volume was mounted: what landed, was refused and waits, together")
    @Unit("chunks")
    long getOfferedChunks();

    @Description("Of these, those that landed on the SSD, whatever has become of them since")
    @Unit("chunks")
    long getPromotedChunks();

    @Description("Bytes of these, before compression")
    @Unit("bytes")
    long getPromotedBytes();

    @Description("Landed after a duplicate was written")
    @Unit("chunks")
    long getPromotedByWrite();

    @Description("Landed after it was read from the disk a second time")
    @Unit("chunks")
    long getPromotedByRead();

    @Description("Landed because a file wants little of their container")
    @Unit("chunks")
    long getPromotedByRecipe();

    @Description("Waiting, with their bytes, until the SSD has written what is before them")
    @Unit("chunks")
    long getQueuedChunks();

    @Description("Came while the queue was full: waiting until they are fetched again")
    @Unit("chunks")
    long getRememberedChunks();

    @Description("Not promoted, whatever the cause: all that follow, together")
    @Unit("chunks")
    long getRefusedChunks();

    @Description("Not promoted: too few references")
    @Unit("chunks")
    long getRefusedCount();

    @Description("Not promoted: part of a long run")
    @Unit("chunks")
    long getRefusedRun();

    @Description("Not promoted: on the SSD already, or on its way")
    @Unit("chunks")
    long getRefusedPresent();

    @Description("Not promoted: worth less than what is on the full SSD")
    @Unit("chunks")
    long getRefusedRank();

    @Description("Not promoted: longer than a record may be")
    @Unit("chunks")
    long getRefusedTooLarge();

    @Description("Not promoted: what could be demoted and cleaned made no room")
    @Unit("chunks")
    long getRefusedNoRoom();

    @Description("Not promoted: the queue was full, and too many chunks were remembered")
    @Unit("chunks")
    long getRefusedQueue();

    @Description("Not promoted: no SSD, or it took no writes")
    @Unit("chunks")
    long getRefusedUnavailable();

    @Description("Not promoted: the SSD failed while they were written, or was left alone after that")
    @Unit("chunks")
    long getRefusedWriteFailed();

    @Description("Not promoted: their bytes were not those of the chunk")
    @Unit("chunks")
    long getRefusedDamaged();

    @Description("Not promoted: their bytes at home, or their references, could not be read")
    @Unit("chunks")
    long getRefusedUnreadable();

    @Description("Not promoted: nothing refers to them any more")
    @Unit("chunks")
    long getRefusedUnreferenced();
}
