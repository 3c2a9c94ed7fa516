/**
 * Turns bytes into chunks: a {@link org.opendedup.sar.chunk.Chunker} determines where chunks end, a
 * {@link org.opendedup.sar.chunk.Fingerprinter} computes their fingerprints, and a
 * {@link org.opendedup.sar.chunk.Segment} carries about 2 MiB of them through the write path.
 */
@NullMarked
package org.opendedup.sar.chunk;

import org.jspecify.annotations.NullMarked;
