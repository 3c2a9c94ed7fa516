/**
 * What restores cost: recipes of a trace, packed into containers as the store does, are read back through the restore cache policies
 * of the engine ({@link org.opendedup.sar.restore.cache.ContainerCache}), and container reads are counted.
 *
 * <p>{@link org.opendedup.sar.sim.restore.RestoreCommand} is the command; {@link org.opendedup.sar.sim.restore.ContainerPacker}
 * packs, {@link org.opendedup.sar.sim.restore.RestoreSimulation} reads back.
 */
@NullMarked
package org.opendedup.sar.sim.restore;

import org.jspecify.annotations.NullMarked;
