package org.opendedup.sar.tier;

/**
 * SAR's parameters, which an administrator may change while the volume is in use (SAR paper §3.2: Administration Interface).
 *
 * @param enabled whether chunks are promoted; what is on the SSD is read from there in any case
 * @param capacityBytes the most bytes used on the SSD, the Map table's database included
 * @param referenceCountThreshold references from which the reference-count policy promotes
 * @param maxRunBytes runs of neighbouring chunks as long as this or longer are sequential work for the disk and stay there
 * @param promoteOnRead whether a second read from the disk promotes as well
 * @param lruEntries length of the list of chunks recently read from the disk; changes with the next attach
 * @param policy what makes a chunk worth its place
 */
public record TierSettings(
        boolean enabled,
        long capacityBytes,
        int referenceCountThreshold,
        int maxRunBytes,
        boolean promoteOnRead,
        int lruEntries,
        Policy policy) {

    /** What makes a chunk worth its place on the SSD. */
    public enum Policy {
        /** The paper's rule: how many references there are to it. */
        REFERENCE_COUNT,
        /** Disk time saved per byte of SSD. */
        COST
    }

    /** @throws IllegalArgumentException naming what is wrong and what is allowed */
    public TierSettings {
        check("the SSD capacity", capacityBytes, 0, Long.MAX_VALUE);
        check("the reference count threshold", referenceCountThreshold, 1, Integer.MAX_VALUE);
        check("the longest run in bytes", maxRunBytes, 1, 1 << 30);
        check("the number of LRU entries", lruEntries, 0, 100_000_000);
    }

    private static void check(String what, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(what + " is " + value + "; it must be from " + least + " to " + most);
        }
    }
}
