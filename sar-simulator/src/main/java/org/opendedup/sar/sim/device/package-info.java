/**
 * Storage devices in simulated time: deterministic discrete-event models, so that the same requests always take the
 * same time on every machine.
 *
 * <p>{@link org.opendedup.sar.sim.device.Simulation} is the clock and its event queue. A
 * {@link org.opendedup.sar.sim.device.Device} accepts a {@link org.opendedup.sar.sim.device.Transfer} and calls back
 * when it is done: {@link org.opendedup.sar.sim.device.HardDisk}, {@link org.opendedup.sar.sim.device.Ssd}, and
 * {@link org.opendedup.sar.sim.device.Raid0} and {@link org.opendedup.sar.sim.device.Raid5} of several disks.
 * {@link org.opendedup.sar.sim.device.Machine} reads the parameters from a file and builds them;
 * {@link org.opendedup.sar.sim.device.SelfCheck} compares them with published figures.
 *
 * <p>Times are nanoseconds from the start of the simulation, sizes and places are bytes, energy is joules.
 */
@NullMarked
package org.opendedup.sar.sim.device;

import org.jspecify.annotations.NullMarked;
