/**
 * What an arrangement may do, and its result. {@link org.opendedup.sar.volume.rewrite.Arranger} does it: chunks that
 * the newest files read with many seeks are stored once more, in the order of these files, and every recipe is made to
 * refer to the new copies. The collector then returns the space of the old ones.
 */
@NullMarked
package org.opendedup.sar.arrange;

import org.jspecify.annotations.NullMarked;
