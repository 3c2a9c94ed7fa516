/**
 * Arrangement: chunks that the newest files read with many seeks are stored once more, in the order of these files, and
 * every recipe is made to refer to the new copies. The collector then returns the space of the old ones.
 *
 * <p>{@link org.opendedup.sar.arrange.Arranger} does it: {@link org.opendedup.sar.arrange.NewestFiles} finds the files,
 * {@link org.opendedup.sar.arrange.ReadPlan} the chunks that are worth moving.
 */
@NullMarked
package org.opendedup.sar.arrange;

import org.jspecify.annotations.NullMarked;
