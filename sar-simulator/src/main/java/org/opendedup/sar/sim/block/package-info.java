/**
 * Block traces: the requests of a host to its disks, with a fingerprint of each block's content.
 *
 * <p>A {@link org.opendedup.sar.sim.block.BlockTrace} returns one {@link org.opendedup.sar.sim.block.BlockRequest}
 * after another: {@link org.opendedup.sar.sim.block.FiuTrace} reads the traces of Koller and Rangaswami ("I/O
 * Deduplication", FAST'10), {@link org.opendedup.sar.sim.block.SyntheticTrace} makes one like them, and
 * {@link org.opendedup.sar.sim.block.TraceStatistics} measures the similarity.
 *
 * <p>A block is 4 KiB. Its content is a {@code long}, the first 64 bits of its digest: among 30 million contents, the
 * probability that two have the same number is 2 in 100 000.
 */
@NullMarked
package org.opendedup.sar.sim.block;

import org.jspecify.annotations.NullMarked;
