package org.opendedup.sar.hot.policy;

import org.opendedup.sar.ssd.Cause;

/**
 * The policy that ranks by disk time saved per byte of SSD. A restore is slow not because a chunk has few references,
 * but because the disk must seek for few bytes. Monotone: more references, more heat or a greater saving never make a
 * chunk worth less.
 *
 * @param maxRunBytes runs of at least this many bytes are worth the disk's seek and stay there
 */
public record CostPolicy(long maxRunBytes) implements PromotionPolicy {
    private static final int FRACTION_BITS = 8;

    /**
     * Divisor of the saving that a written duplicate is expected to bring: it counts as if it were read a sixteenth as
     * often as a chunk that was read already. So a chunk that was read twice displaces it, even in a run of up to 16
     * times the length. This and {@link #displaces} shorten reads of replayed traces by up to a third
     * (docs/SIMULATOR.md).
     */
    private static final int WRITTEN_SHARE = 16;

    /**
     * Promotes any duplicate whose run is so short that reading it is mostly a seek; the rank decides where space is
     * short.
     */
    @Override
    public boolean promotes(Cause cause, int count, int lengthBytes, long runBytes) {
        return cause == Cause.RECIPE || runBytes < maxRunBytes;
    }

    /**
     * Reduces the saving of written duplicates: most of them are never read. The first read from the SSD corrects this.
     */
    @Override
    public int expectedSaving(Cause cause, int saving) {
        return cause == Cause.WRITE ? Math.max(1, saving / WRITTEN_SHARE) : saving;
    }

    /**
     * Lets written duplicates use only free space, where they make the first restore faster. A full SSD is for chunks
     * that were read or that recipes select.
     */
    @Override
    public boolean displaces(Cause cause) {
        return cause != Cause.WRITE;
    }

    /**
     * Returns the disk time saved per KiB, times the likelihood of a request. Size has no influence: the saving is per
     * KiB already. References say little about future requests (most of many versions are never read again), so their
     * logarithm counts. Recent requests count in full, and age.
     */
    @Override
    public long rank(int count, int recordBytes, int saving, int heat) {
        int magnitude = Integer.SIZE - Integer.numberOfLeadingZeros(count);
        return (long) saving * (magnitude + heat) << FRACTION_BITS;
    }
}
