package org.opendedup.sar.restore.frame;

import org.opendedup.sar.hot.copies.AccessListener;
import org.opendedup.sar.hot.copies.CountSource;
import org.opendedup.sar.hot.distributor.DataDistributor;

/**
 * The SSD as the read path sees it.
 *
 * @param distributor chooses for each chunk: memory, SSD or home
 * @param promotion notified of chunks that were read
 * @param counts reference counts of chunks, for {@code promotion}
 */
public record HotSource(DataDistributor distributor, AccessListener promotion, CountSource counts) {}
