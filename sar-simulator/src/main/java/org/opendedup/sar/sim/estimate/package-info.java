/**
 * What a volume will make of a user's own data: what it will store, how much memory and SSD it wants, how fast it will be read back.
 *
 * <p>{@link org.opendedup.sar.sim.estimate.EstimateCommand} is the command. {@link org.opendedup.sar.sim.estimate.Estimator} is told
 * every chunk and passes it to three parts: {@link org.opendedup.sar.sim.estimate.ChunkSample} counts different chunks and their
 * references, {@link org.opendedup.sar.sim.estimate.FrameSample} compresses, {@link org.opendedup.sar.sim.estimate.RestoreModel} counts
 * what a disk would be asked for. What comes of it is an {@link org.opendedup.sar.sim.estimate.Estimate}.
 */
@NullMarked
package org.opendedup.sar.sim.estimate;

import org.jspecify.annotations.NullMarked;
