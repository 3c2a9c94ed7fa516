/**
 * The designs that the TDDFS paper compares (section 5.1), and one more:
 * {@link org.opendedup.sar.sim.tddfs.design.TddfsSar}. A {@link org.opendedup.sar.sim.tddfs.design.Design} decides what
 * lies on which tier; it tells the clock and the traffic what that costs.
 */
@NullMarked
package org.opendedup.sar.sim.tddfs.design;

import org.jspecify.annotations.NullMarked;
