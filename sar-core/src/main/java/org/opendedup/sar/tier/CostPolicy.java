package org.opendedup.sar.tier;

/**
 * Disk time saved per byte of SSD: what hurts a restore is not that a chunk has few references but that the disk must seek for
 * little. Monotone: more references, more heat or a greater saving never make a chunk worth less.
 *
 * @param maxRunBytes runs as long as this or longer are worth the disk's seek and stay there
 */
public record CostPolicy(long maxRunBytes) implements PromotionPolicy {
    private static final int FRACTION_BITS = 8;

    /**
     * A written duplicate counts as if it were read a sixteenth as often as what was read before. So what was read twice takes its
     * place, even in a run of up to 16 times the length; reads of replayed traces take up to a third less time for this and {@link
     * #displaces} (docs/SIMULATOR.md).
     */
    private static final int WRITTEN_SHARE = 16;

    /** Any duplicate deserves the SSD whose run is so short that reading it is mostly a seek; rank decides where space is short. */
    @Override
    public boolean promotes(Cause cause, int count, int lengthBytes, long runBytes) {
        return cause == Cause.RECIPE || runBytes < maxRunBytes;
    }

    /** No parameter disqualifies a chunk that is referenced; what is worth little leaves when space is needed. */
    @Override
    public boolean keeps(int count, int saving) {
        return count > 0;
    }

    @Override
    public int worth(Cause cause, int count) {
        return count;
    }

    /** Most of what is written again is never read. The first read from the SSD makes up for it. */
    @Override
    public int expectedSaving(Cause cause, int saving) {
        return cause == Cause.WRITE ? Math.max(1, saving / WRITTEN_SHARE) : saving;
    }

    /** While the SSD has room, what is written again makes the first restore faster; a full one is for what was read, or recipes want. */
    @Override
    public boolean displaces(Cause cause) {
        return cause != Cause.WRITE;
    }

    /**
     * Disk time saved per KiB, times how often the chunk is likely to be wanted. The size cancels out: the saving is per KiB
     * already. References say little about that (most of many versions are never read again), so they count by their logarithm;
     * what was wanted lately counts in full, and ages.
     */
    @Override
    public long rank(int count, int recordBytes, int saving, int heat) {
        int magnitude = Integer.SIZE - Integer.numberOfLeadingZeros(count);
        return (long) saving * (magnitude + heat) << FRACTION_BITS;
    }
}
