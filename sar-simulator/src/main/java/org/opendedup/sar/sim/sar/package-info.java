/**
 * The SAR paper's evaluation (ACM TOS 10(2), 2014, §4.3): block traces replayed on models of its machine by several
 * storage systems.
 *
 * <p>A {@link org.opendedup.sar.sim.sar.StorageSystem} decides which transfers a request costs, without any notion of
 * time. {@link org.opendedup.sar.sim.sar.Replay} warms it up with the preceding days, then submits its transfers to the
 * devices at the times of the trace, and measures. Systems: native, dedupe, an SSD cache in front of either
 * ({@link org.opendedup.sar.sim.sar.CacheSystem}), and SAR ({@link org.opendedup.sar.sim.sar.SarSystem}), which runs
 * the volume's own policy classes through {@link org.opendedup.sar.sim.sar.SarTier}.
 */
@NullMarked
package org.opendedup.sar.sim.sar;

import org.jspecify.annotations.NullMarked;
