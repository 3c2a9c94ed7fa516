/**
 * Interfaces between the tier and the copies on the SSD. {@link org.opendedup.sar.tier.copies.CopyStore} reads copies,
 * {@link org.opendedup.sar.tier.copies.PromotionTarget} accepts new ones,
 * {@link org.opendedup.sar.tier.copies.TierContents} lists and removes them. Also the terms that the whole tier shares:
 * causes, sources, refusals.
 */
@NullMarked
package org.opendedup.sar.tier.copies;

import org.jspecify.annotations.NullMarked;
