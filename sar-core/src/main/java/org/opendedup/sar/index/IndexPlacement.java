package org.opendedup.sar.index;

/**
 * How a ChunkStash index lies on its SSD.
 *
 * @param ssdCapacityBytes most bytes of its files there; what exceeds them lies beside the containers. 0: as many as
 *     the device has
 */
public record IndexPlacement(long ssdCapacityBytes) {
    /** Without a bound. */
    public static final IndexPlacement DEFAULT = new IndexPlacement(0);

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
