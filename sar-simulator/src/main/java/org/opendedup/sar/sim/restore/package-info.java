/**
 * The cost of restores: packs the recipes of a trace into containers as the store does, reads them back through the
 * engine's restore cache policies ({@link org.opendedup.sar.restore.cache.ContainerCache}), and counts container reads.
 *
 * <p>{@link org.opendedup.sar.sim.restore.RestoreCommand} is the command;
 * {@link org.opendedup.sar.sim.restore.ContainerPacker} packs, {@link org.opendedup.sar.sim.restore.RestoreSimulation}
 * reads back.
 */
@NullMarked
package org.opendedup.sar.sim.restore;

import org.jspecify.annotations.NullMarked;
