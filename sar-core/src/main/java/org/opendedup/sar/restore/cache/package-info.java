/**
 * Decides which chunks a sequential reader keeps in memory, and nothing else: policies without bytes and without I/O,
 * so that the mounted file system and the trace-driven simulator run the same classes.
 *
 * <p>{@link org.opendedup.sar.restore.cache.ContainerCache} is the interface of a policy.
 * {@link org.opendedup.sar.restore.cache.CachePolicy} names the policies and makes them from
 * {@link org.opendedup.sar.restore.cache.CacheParameters}. A {@link org.opendedup.sar.restore.cache.ChunkHolder} holds
 * the bytes; it is notified which chunks to keep and which to drop.
 *
 * <p>There are two families. {@code WholeContainerCache} keeps whole containers, with one of several
 * {@code VictimRule}s: LRU, OPT (Belady), and the lookahead read cache of Park, Fan, Nam and Du (JCST 2017, called the
 * lookahead paper here), alone or with its log buffer. {@code WantedChunksCache} keeps the chunks that the window
 * wants: forward assembly, and the default.
 */
@NullMarked
package org.opendedup.sar.restore.cache;

import org.jspecify.annotations.NullMarked;
