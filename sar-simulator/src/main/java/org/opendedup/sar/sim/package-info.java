/**
 * The simulator: runs the engine's own policies over traces. {@link org.opendedup.sar.sim.SarSim} is its only command,
 * with subcommands.
 */
@NullMarked
package org.opendedup.sar.sim;

import org.jspecify.annotations.NullMarked;
