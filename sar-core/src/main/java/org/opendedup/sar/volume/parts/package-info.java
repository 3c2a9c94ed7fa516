/** The parts of a mounted volume together, and the figures that come from all of them. */
@NullMarked
package org.opendedup.sar.volume.parts;

import org.jspecify.annotations.NullMarked;
