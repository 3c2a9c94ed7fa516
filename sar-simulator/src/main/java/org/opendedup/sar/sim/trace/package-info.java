/**
 * Traces of backup streams as their chunks. {@link org.opendedup.sar.sim.trace.ChunkTraceReader} reads a file and
 * reports it to a {@link org.opendedup.sar.sim.trace.ChunkTraceVisitor}, line by line, so that a trace may be larger
 * than the memory. {@link org.opendedup.sar.sim.trace.DriftingSeries} makes a synthetic one.
 */
@NullMarked
package org.opendedup.sar.sim.trace;

import org.jspecify.annotations.NullMarked;
