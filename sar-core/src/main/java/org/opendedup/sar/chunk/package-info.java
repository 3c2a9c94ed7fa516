/**
 * From bytes to chunks: a {@link org.opendedup.sar.chunk.Chunker} says where chunks end, a {@link
 * org.opendedup.sar.chunk.Fingerprinter} names them, a {@link org.opendedup.sar.chunk.Segment} carries some two MiB of
 * them through the write path.
 */
@NullMarked
package org.opendedup.sar.chunk;

import org.jspecify.annotations.NullMarked;
