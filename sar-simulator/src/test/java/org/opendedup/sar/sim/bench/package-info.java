/**
 * The programs of {@code scripts/bench}, and JMH benchmarks; test code, so that no shipped jar has them. Each benchmark
 * says which command runs it, and what it last measured on which machine, or refers to docs/BENCHMARKS.md;
 * {@code scripts/bench jmh} runs all.
 */
@NullMarked
package org.opendedup.sar.sim.bench;

import org.jspecify.annotations.NullMarked;
