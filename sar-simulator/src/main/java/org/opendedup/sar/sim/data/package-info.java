/**
 * Real data as chunks: folders, files and images are read and cut in the same way as by a volume that stores them.
 * {@link org.opendedup.sar.sim.data.DataFiles} finds the files, {@link org.opendedup.sar.sim.data.DataChunks} reads and
 * cuts one, {@link org.opendedup.sar.sim.data.DataTrace} makes a chunk trace of them.
 */
@NullMarked
package org.opendedup.sar.sim.data;

import org.jspecify.annotations.NullMarked;
