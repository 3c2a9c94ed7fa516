package org.opendedup.sar.metadata.record;

import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.metadata.pending.ContainerTable;

/**
 * An entry of the {@link ContainerTable}: where a container lies, and how much of it is in use.
 *
 * @param container the container's id
 * @param stored where it lies and what it is
 * @param liveBytes bytes, before compression, of its chunks to which at least one recipe refers
 * @param damagedSlots number of its slots that are known to be damaged
 */
public record ContainerEntry(long container, StoredContainer stored, long liveBytes, int damagedSlots) {
    /**
     * Returns the bytes of the container in its pack that no recipe refers to; 0 while it is open. They include chunks
     * that were never referred to, and tombstones. An estimate unless no chunk has a reference: it assumes that all
     * chunks compress alike.
     */
    public long garbageBytes() {
        if (stored.state() == StoredContainer.State.OPEN) {
            return 0;
        }
        return liveBytes == 0
                ? stored.bytes()
                : (long) (stored.bytes() * Math.max(0, 1 - (double) liveBytes / stored.rawBytes()));
    }
}
