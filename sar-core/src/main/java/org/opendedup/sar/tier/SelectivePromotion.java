package org.opendedup.sar.tier;

/**
 * Decides which chunks are copied to the SSD (SAR paper §3.4), on the write path, on the read path, and, beyond the paper, from
 * the recipe of a file as a whole. Never waits for the SSD. Safe for use by many threads.
 */
public final class SelectivePromotion implements AccessListener {
    /** @param target where promoted chunks go: follows attach and detach */
    public SelectivePromotion(TierSettings settings, PromotionTarget target) {
        throw new UnsupportedOperationException();
    }

    public void apply(TierSettings settings) {
        throw new UnsupportedOperationException();
    }

    /** Whether telling of writes is of any use now: enabled, and an SSD attached. */
    public boolean isActive() {
        throw new UnsupportedOperationException();
    }

    /**
     * Duplicates were written: chunk ids, whole lengths, references by now, data.
     *
     * @param inode the file
     */
    public void written(long inode, ChunkRequest duplicates) {
        throw new UnsupportedOperationException();
    }

    /** Chunks were read; those with HOME as source and data were read from the disk by this request. */
    public void read(ChunkRequest request, CountSource counts) {
        throw new UnsupportedOperationException();
    }

    public PromotionStatistics statistics() {
        throw new UnsupportedOperationException();
    }
}
