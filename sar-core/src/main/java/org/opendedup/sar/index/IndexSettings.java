package org.opendedup.sar.index;

/**
 * What a volume chose of its index, but for the class.
 *
 * @param ssdCapacityBytes most bytes of the files of a ChunkStash index on its SSD; what exceeds them lies beside the
 *     containers. 0: as many as the device has
 * @param parameters sizes that are not the usual ones
 */
public record IndexSettings(long ssdCapacityBytes, IndexParameters parameters) {
    /** Without a bound, all as usual. */
    public static final IndexSettings DEFAULT = new IndexSettings(0, IndexParameters.NONE);

    /** @throws IllegalArgumentException if the bound is negative */
    public IndexSettings {
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
