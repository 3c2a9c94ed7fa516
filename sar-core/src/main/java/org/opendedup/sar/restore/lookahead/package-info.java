/**
 * Reading ahead of sequential readers: at which positions a reader reads, what it wants next by its recipe, and the
 * steps that fetch it. {@link org.opendedup.sar.restore.lookahead.Lookahead} is one position,
 * {@link org.opendedup.sar.restore.lookahead.ReadStreams} is all positions with the memory they share.
 */
@NullMarked
package org.opendedup.sar.restore.lookahead;

import org.jspecify.annotations.NullMarked;
