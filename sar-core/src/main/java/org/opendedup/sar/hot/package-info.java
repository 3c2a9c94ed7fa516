/**
 * SAR keeps copies of the chunks that make reading slow on a small SSD ("Read-Performance Optimization for
 * Deduplication-Based Storage Systems in the Cloud", ACM TOS 10(2), 2014; §3). A copy on the SSD is never the only one:
 * every chunk keeps its home in its container, so a copy may be lost at any moment.
 *
 * <p>{@link org.opendedup.sar.hot.HotChunks} is the entry point.
 * {@link org.opendedup.sar.hot.promotion.SelectivePromotion} decides what is copied to the SSD,
 * {@link org.opendedup.sar.hot.demotion.DataDemotion} what is removed, both by a
 * {@link org.opendedup.sar.hot.policy.PromotionPolicy}. {@link org.opendedup.sar.hot.promotion.RecipePromotion} adds
 * chunks that whole recipes show to be worth it. {@link org.opendedup.sar.hot.distributor.DataDistributor} sends each
 * chunk of a read to memory, SSD or home. One attached SSD is an {@link org.opendedup.sar.ssd.SsdStore}.
 */
@NullMarked
package org.opendedup.sar.hot;

import org.jspecify.annotations.NullMarked;
