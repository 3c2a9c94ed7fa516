/**
 * SAR: the chunks that make reading slow live on a small SSD as well ("Read-Performance Optimization for Deduplication-Based
 * Storage Systems in the Cloud", ACM TOS 10(2), 2014; §3). A copy on the SSD is never the only one: every chunk keeps its
 * home in its container, so whatever lies here may vanish at any moment.
 *
 * <p>{@link org.opendedup.sar.tier.SsdTier} is the entry. {@link org.opendedup.sar.tier.SelectivePromotion} decides what is
 * copied there, {@link org.opendedup.sar.tier.DataDemotion} what leaves, both by a {@link
 * org.opendedup.sar.tier.PromotionPolicy}; {@link org.opendedup.sar.tier.RecipePromotion} adds what whole recipes tell; {@link org.opendedup.sar.tier.DataDistributor} sends each chunk of a read to memory,
 * SSD or home. One attached SSD is an {@link org.opendedup.sar.ssd.SsdStore}.
 */
@NullMarked
package org.opendedup.sar.tier;

import org.jspecify.annotations.NullMarked;
