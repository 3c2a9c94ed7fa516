/**
 * Estimates what a volume will make of a user's own data: the stored bytes, the memory and SSD that it needs, and the
 * speed of reading back.
 *
 * <p>{@link org.opendedup.sar.sim.estimate.EstimateCommand} is the command.
 * {@link org.opendedup.sar.sim.estimate.Estimator} receives every chunk and passes it to three parts:
 * {@link org.opendedup.sar.sim.estimate.ChunkSample} counts different chunks and their references,
 * {@link org.opendedup.sar.sim.estimate.FrameSample} compresses, {@link org.opendedup.sar.sim.estimate.RestoreModel}
 * counts the disk requests. The result is an {@link org.opendedup.sar.sim.estimate.Estimate}.
 */
@NullMarked
package org.opendedup.sar.sim.estimate;

import org.jspecify.annotations.NullMarked;
