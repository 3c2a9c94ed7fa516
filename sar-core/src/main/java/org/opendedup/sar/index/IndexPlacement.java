package org.opendedup.sar.index;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * How a ChunkStash index lies on its SSD.
 *
 * @param ssdCapacityBytes most bytes of its files there; what exceeds them lies beside the containers. 0: as many as
 *     the device has
 * @param home folder on a disk, from which a mount loads the index to the SSD, and where an unmount stores it; null if
 *     the SSD is its permanent place
 */
public record IndexPlacement(
        long ssdCapacityBytes, @Nullable Path home) {
    /** Without a bound. */
    public static final IndexPlacement DEFAULT = new IndexPlacement(0, null);

    /** @throws IllegalArgumentException if the bound is negative */
    public IndexPlacement {
        if (ssdCapacityBytes < 0) {
            throw new IllegalArgumentException("a capacity of " + ssdCapacityBytes + " bytes for the index");
        }
    }

    public boolean isBounded() {
        return ssdCapacityBytes > 0;
    }

    /** Returns the bound of the files. */
    public IndexSpace space() {
        return isBounded() ? IndexSpace.of(ssdCapacityBytes) : IndexSpace.UNBOUNDED;
    }
}
