/**
 * The disk that holds the containers: the cost of a read, measured while reading
 * ({@link org.opendedup.sar.disk.DiskEstimator}), and the order of its readers
 * ({@link org.opendedup.sar.disk.DiskQueue}). A reader of several frames takes a turn (docs/adr/0009); work for which
 * nobody waits comes last (docs/adr/0036).
 */
@NullMarked
package org.opendedup.sar.disk;

import org.jspecify.annotations.NullMarked;
