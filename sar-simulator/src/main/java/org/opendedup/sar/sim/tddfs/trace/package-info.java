/**
 * Traces of requests to whole files: which files there are, and which ranges of them are read and written, one request
 * after another.
 *
 * <p>{@link org.opendedup.sar.sim.tddfs.trace.TraceGenerator} makes traces like the three of the TDDFS paper (Cao et
 * al., ACM TOS 15(1), 2019, section 5.1), {@link org.opendedup.sar.sim.tddfs.trace.FileTraceText} reads and writes a
 * trace as text.
 */
@NullMarked
package org.opendedup.sar.sim.tddfs.trace;

import org.jspecify.annotations.NullMarked;
