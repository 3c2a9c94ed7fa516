/**
 * Real data as chunks: folders, files and images are read and cut as a volume would that stores them. {@link
 * org.opendedup.sar.sim.data.DataFiles} finds the files, {@link org.opendedup.sar.sim.data.DataChunks} reads and cuts one, {@link
 * org.opendedup.sar.sim.data.DataTrace} tells them as a chunk trace.
 */
@NullMarked
package org.opendedup.sar.sim.data;

import org.jspecify.annotations.NullMarked;
