/**
 * What a sequential reader keeps in memory, and nothing else: policies without bytes and without I/O, so that the mounted file
 * system and the trace-driven simulator run the same classes.
 *
 * <p>{@link org.opendedup.sar.restore.cache.ContainerCache} is what a policy does, {@link
 * org.opendedup.sar.restore.cache.CachePolicy} names the policies and makes them from {@link
 * org.opendedup.sar.restore.cache.CacheParameters}. The bytes are with a {@link
 * org.opendedup.sar.restore.cache.ChunkHolder}, which is told what to keep and what to drop.
 *
 * <p>Two families. {@code WholeContainerCache} keeps containers as they were read and differs by its {@code VictimRule}: LRU, OPT
 * (Belady), and the lookahead read cache of Park, Fan, Nam and Du (JCST 2017, called the lookahead paper here), alone or with its log
 * buffer. {@code WantedChunksCache} keeps the chunks that the window wants: forward assembly, and the default.
 */
@NullMarked
package org.opendedup.sar.restore.cache;

import org.jspecify.annotations.NullMarked;
