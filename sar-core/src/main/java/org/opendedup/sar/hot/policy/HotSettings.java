package org.opendedup.sar.hot.policy;

/**
 * SAR's parameters, which an administrator may change while the volume is in use (SAR paper §3.2: Administration
 * Interface).
 *
 * @param enabled whether chunks are promoted; copies on the SSD are read in any case
 * @param capacityBytes limit of the bytes used on the SSD, the Map table's database included
 * @param referenceCountThreshold references from which the reference-count policy promotes
 * @param maxRunBytes runs of neighbouring chunks of at least this many bytes are sequential work for the disk and stay
 *     there
 * @param promoteOnRead whether reads also promote: the second read of a chunk, or the first if the policy says so
 * @param lruEntries entries of the list of chunks recently read; a change takes effect at the next attach
 * @param policy rule that decides which chunks are worth their space
 */
public record HotSettings(
        boolean enabled,
        long capacityBytes,
        int referenceCountThreshold,
        int maxRunBytes,
        boolean promoteOnRead,
        int lruEntries,
        Policy policy) {

    /** Smallest and largest allowed values of the integer parameters. */
    public static final int THRESHOLD_MIN = 1;

    public static final int RUN_BYTES_MIN = 1;
    public static final int RUN_BYTES_MAX = 1 << 30;
    public static final int LRU_ENTRIES_MAX = 100_000_000;

    /** Rule that decides which chunks are worth their space on the SSD. */
    public enum Policy {
        /** The paper's rule: the number of references. */
        REFERENCE_COUNT,
        /** Disk time saved per byte of SSD. */
        COST,
        /** What is read, with the first read, until it was not read for the longest time (TDDFS). */
        OPEN
    }

    /** @throws IllegalArgumentException if a value is out of range; the message names it and the range */
    public HotSettings {
        check("the SSD capacity", capacityBytes, 0, Long.MAX_VALUE);
        check("the reference count threshold", referenceCountThreshold, THRESHOLD_MIN, Integer.MAX_VALUE);
        check("the longest run in bytes", maxRunBytes, RUN_BYTES_MIN, RUN_BYTES_MAX);
        check("the number of LRU entries", lruEntries, 0, LRU_ENTRIES_MAX);
    }

    /** Creates the policy that they name. */
    public PromotionPolicy promotionPolicy() {
        return switch (policy) {
            case REFERENCE_COUNT -> new ReferenceCountPolicy(referenceCountThreshold, maxRunBytes);
            case OPEN -> new OpenPolicy();
            case COST -> new CostPolicy(maxRunBytes);
        };
    }

    private static void check(String what, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(what + " is " + value + "; it must be from " + least + " to " + most);
        }
    }
}
