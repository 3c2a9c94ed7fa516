/**
 * Two tiers as a model: what they hold, and how long it takes. No bytes are moved.
 *
 * <p>{@link org.opendedup.sar.sim.tddfs.tier.Contents} knows the length of each different chunk,
 * {@link org.opendedup.sar.sim.tddfs.tier.ChunkTier} which of them one tier has and how often files refer to them,
 * {@link org.opendedup.sar.sim.tddfs.tier.Recipe} the chunks of one file.
 * {@link org.opendedup.sar.sim.tddfs.tier.TierClock} is the time, with
 * {@link org.opendedup.sar.sim.tddfs.tier.TierCosts}.
 */
@NullMarked
package org.opendedup.sar.sim.tddfs.tier;

import org.jspecify.annotations.NullMarked;
