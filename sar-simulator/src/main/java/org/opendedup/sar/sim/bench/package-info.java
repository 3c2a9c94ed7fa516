/**
 * JMH benchmarks. Each class says with which command it is run and what it last measured, on which machine, or leaves that to
 * docs/BENCHMARKS.md; {@code scripts/bench jmh} runs all.
 */
@NullMarked
package org.opendedup.sar.sim.bench;

import org.jspecify.annotations.NullMarked;
