/**
 * The exact pass: finds chunks that are stored more than once, and makes all recipes refer to one copy. The collector
 * then returns the space of the others. {@link org.opendedup.sar.volume.rewrite.VolumeJoin} does it;
 * {@link org.opendedup.sar.join.LossSample} estimates how much there is to find.
 */
@NullMarked
package org.opendedup.sar.join;

import org.jspecify.annotations.NullMarked;
