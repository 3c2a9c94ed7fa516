package org.opendedup.sar.hot.promotion;

import java.util.EnumMap;
import java.util.Map;
import org.opendedup.sar.hot.copies.Refusal;

/**
 * Counts chunks offered to the SSD, and their outcome, since the volume was opened. While nothing is being written or
 * read, {@code offered} is exactly the sum of the chunks landed, refused and waiting.
 *
 * @param offered written duplicates, chunks read a second time (with some policies, once), and chunks selected by a
 *     recipe; each counts once per occasion
 * @param byWrite chunks landed after a duplicate was written
 * @param byRead chunks landed after a read: the second one, or the first if the policy promotes that
 * @param byRecipe chunks landed because a file needs little of their container
 * @param bytes bytes of all chunks landed, before compression
 * @param queued chunks waiting, with their bytes, for the writing thread of the SSD
 * @param remembered chunks waiting to be fetched again
 * @param refused chunks refused, by cause; every cause is present
 */
public record PromotionStatistics(
        long offered,
        long byWrite,
        long byRead,
        long byRecipe,
        long bytes,
        long queued,
        long remembered,
        Map<Refusal, Long> refused) {
    /** Statistics without any offer. */
    public static final PromotionStatistics NONE = new PromotionStatistics(0, 0, 0, 0, 0, 0, 0, Map.of());

    /** Counts missing causes as 0. */
    public PromotionStatistics {
        Map<Refusal, Long> all = new EnumMap<>(Refusal.class);
        for (Refusal refusal : Refusal.values()) {
            all.put(refusal, refused.getOrDefault(refusal, 0L));
        }
        refused = all;
    }

    /** Returns the chunks that landed on the SSD. */
    public long promoted() {
        return byWrite + byRead + byRecipe;
    }

    /** Returns the chunks refused for a cause. */
    public long refused(Refusal refusal) {
        return refused.getOrDefault(refusal, 0L);
    }

    /** Returns the chunks refused, for all causes. */
    public long allRefused() {
        return refused.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Returns the chunks whose outcome is not decided yet. */
    public long waiting() {
        return queued + remembered;
    }
}
