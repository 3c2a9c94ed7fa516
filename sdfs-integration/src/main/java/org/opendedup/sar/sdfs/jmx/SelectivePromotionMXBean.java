package org.opendedup.sar.sdfs.jmx;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.tier.policy.TierSettings;

/**
 * Counts of promoted and refused chunks, and the parameters of promotion. In JMX:
 * {@code org.opendedup.sar:type=SelectivePromotion,volume=<volume>}. Setters also store the new value in the volume
 * file. A setter throws an IllegalArgumentException for a value that is not allowed; its message names the allowed
 * values.
 */
@Description("Promotion of chunks to the SSD (SAR paper §3.4)")
public interface SelectivePromotionMXBean {
    @Description("True if chunks are promoted; copies on the SSD are read in either case")
    @Unit("true or false")
    boolean isEnabled();

    void setEnabled(boolean enabled);

    @Description("Number of references from which the policy reference-count promotes a chunk that is written again")
    @Unit("references")
    @Range(min = "" + TierSettings.THRESHOLD_MIN, max = "" + Integer.MAX_VALUE)
    int getReferenceCountThreshold();

    void setReferenceCountThreshold(int referenceCountThreshold);

    @Description("Length from which runs of neighbouring chunks stay on the disk")
    @Unit("bytes")
    @Range(min = "" + TierSettings.RUN_BYTES_MIN, max = "" + TierSettings.RUN_BYTES_MAX)
    int getMaxRunBytes();

    void setMaxRunBytes(int maxRunBytes);

    @Description("True if a second read from the disk promotes a chunk too")
    @Unit("true or false")
    boolean isPromoteOnRead();

    void setPromoteOnRead(boolean promoteOnRead);

    @Description("Ranking of chunks: reference-count, cost or open")
    @Unit("name")
    @LegalValues({"reference-count", "cost"})
    String getPolicy();

    void setPolicy(@Nullable String policy);

    @Description("Chunks offered since the volume was mounted: the sum of promoted, refused and waiting chunks")
    @Unit("chunks")
    long getOfferedChunks();

    @Description("Offered chunks that were written to the SSD, including chunks demoted since")
    @Unit("chunks")
    long getPromotedChunks();

    @Description("Bytes of these, before compression")
    @Unit("bytes")
    long getPromotedBytes();

    @Description("Chunks promoted after a duplicate was written")
    @Unit("chunks")
    long getPromotedByWrite();

    @Description("Chunks promoted after a second read from the disk")
    @Unit("chunks")
    long getPromotedByRead();

    @Description("Chunks promoted because a file uses little of their container")
    @Unit("chunks")
    long getPromotedByRecipe();

    @Description("Chunks in the queue, with their bytes, that the SSD has not written yet")
    @Unit("chunks")
    long getQueuedChunks();

    @Description("Chunks that arrived while the queue was full, and that will be read again")
    @Unit("chunks")
    long getRememberedChunks();

    @Description("Chunks not promoted: the sum of all causes that follow")
    @Unit("chunks")
    long getRefusedChunks();

    @Description("Not promoted: too few references")
    @Unit("chunks")
    long getRefusedCount();

    @Description("Not promoted: part of a long run")
    @Unit("chunks")
    long getRefusedRun();

    @Description("Not promoted: on the SSD already, or being written")
    @Unit("chunks")
    long getRefusedPresent();

    @Description("Not promoted: of less value than the chunks on the full SSD")
    @Unit("chunks")
    long getRefusedRank();

    @Description("Not promoted: longer than a record may be")
    @Unit("chunks")
    long getRefusedTooLarge();

    @Description("Not promoted: demotion and cleaning made too little room")
    @Unit("chunks")
    long getRefusedNoRoom();

    @Description("Not promoted: the queue was full, and too many chunks were remembered")
    @Unit("chunks")
    long getRefusedQueue();

    @Description("Not promoted: no SSD, or it accepted no writes")
    @Unit("chunks")
    long getRefusedUnavailable();

    @Description("Not promoted: the SSD failed during the write, or was not written after a failure")
    @Unit("chunks")
    long getRefusedWriteFailed();

    @Description("Not promoted: their bytes were not those of the chunk")
    @Unit("chunks")
    long getRefusedDamaged();

    @Description("Not promoted: their bytes at home, or their references, could not be read")
    @Unit("chunks")
    long getRefusedUnreadable();

    @Description("Not promoted: no file refers to them any more")
    @Unit("chunks")
    long getRefusedUnreferenced();
}
