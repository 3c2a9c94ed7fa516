package org.opendedup.sar.restore;

import org.opendedup.sar.tier.AccessListener;
import org.opendedup.sar.tier.CountSource;
import org.opendedup.sar.tier.DataDistributor;

/**
 * The SSD as the read path sees it.
 *
 * @param distributor sends chunks to memory, SSD or home
 * @param promotion told of what was read
 * @param counts references to chunks, for {@code promotion}
 */
public record ReadTier(DataDistributor distributor, AccessListener promotion, CountSource counts) {}
