package org.opendedup.sar.metadata;

import org.opendedup.sar.common.StoredContainer;

/**
 * An entry of the {@link ContainerTable}: where a container lies, and how much of it is in use.
 *
 * @param container the container's id
 * @param stored where it lies and what it is
 * @param liveBytes bytes, before compression, of its chunks to which at least one recipe refers
 * @param damagedSlots number of its slots that are known to be damaged
 */
public record ContainerEntry(long container, StoredContainer stored, long liveBytes, int damagedSlots) {}
