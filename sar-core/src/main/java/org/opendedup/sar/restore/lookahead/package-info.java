/**
 * Reading ahead of sequential readers: at which positions a reader reads, what it wants next by its recipe, and the
 * batches that fetch it. {@link org.opendedup.sar.restore.lookahead.ReadAhead} is one reader, a {@code Lookahead} one
 * of its positions; {@link org.opendedup.sar.restore.lookahead.ReadStreams} is all positions with the memory they
 * share. {@link org.opendedup.sar.restore.lookahead.TreeReads} follows a reader from file to file.
 */
@NullMarked
package org.opendedup.sar.restore.lookahead;

import org.jspecify.annotations.NullMarked;
