package org.opendedup.sar.tier;

/**
 * What was promoted and what was not, since the volume was opened. In chunks but for the bytes.
 *
 * @param byWrite promoted when a duplicate was written
 * @param byRead promoted when read from the disk a second time
 * @param byRecipe promoted because a file wants little of its container
 * @param bytes bytes of all these, before compression
 * @param refusedCount refused: too few references
 * @param refusedRun refused: part of a long run
 * @param refusedPresent not needed: there already
 * @param refusedQueue dropped: too much was on its way
 * @param refusedRank refused: worth less than what is on the full SSD
 * @param refusedUnavailable refused: no SSD, or it takes no writes
 */
public record PromotionStatistics(
        long byWrite,
        long byRead,
        long byRecipe,
        long bytes,
        long refusedCount,
        long refusedRun,
        long refusedPresent,
        long refusedQueue,
        long refusedRank,
        long refusedUnavailable) {

    public long promoted() {
        return byWrite + byRead + byRecipe;
    }
}
