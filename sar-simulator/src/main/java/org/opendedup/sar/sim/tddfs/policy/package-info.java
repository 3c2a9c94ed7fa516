/**
 * What leaves the fast tier next: {@link org.opendedup.sar.sim.tddfs.policy.MigrationPolicy} for files,
 * {@link org.opendedup.sar.sim.tddfs.policy.ChunkLru} for chunks.
 */
@NullMarked
package org.opendedup.sar.sim.tddfs.policy;

import org.jspecify.annotations.NullMarked;
