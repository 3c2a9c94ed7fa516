/** Compares fingerprint indexes on chunk traces: the duplicates they find, their memory, their reads of the disk. */
@NullMarked
package org.opendedup.sar.sim.index;

import org.jspecify.annotations.NullMarked;
