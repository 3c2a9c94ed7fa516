package org.opendedup.sar.restore.frame;

import org.opendedup.sar.tier.copies.AccessListener;
import org.opendedup.sar.tier.copies.CountSource;
import org.opendedup.sar.tier.distributor.DataDistributor;

/**
 * The SSD as the read path sees it.
 *
 * @param distributor chooses for each chunk: memory, SSD or home
 * @param promotion notified of chunks that were read
 * @param counts reference counts of chunks, for {@code promotion}
 */
public record ReadTier(DataDistributor distributor, AccessListener promotion, CountSource counts) {}
