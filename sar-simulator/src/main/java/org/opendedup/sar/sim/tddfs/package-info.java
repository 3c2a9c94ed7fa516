/**
 * The TDDFS paper's evaluation (Cao et al., ACM TOS 15(1), 2019, section 5) as a model: traces of files, two tiers, and
 * the designs that it compares.
 *
 * <p>{@link org.opendedup.sar.sim.tddfs.TieringRun} replays one trace on one design.
 * {@link org.opendedup.sar.sim.tddfs.Sweep} runs all designs over the values of one parameter, and
 * {@link org.opendedup.sar.sim.tddfs.Figure} names what a figure of the paper shows of a sweep.
 */
@NullMarked
package org.opendedup.sar.sim.tddfs;

import org.jspecify.annotations.NullMarked;
