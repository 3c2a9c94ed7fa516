package org.opendedup.sar.hot.policy;

import org.opendedup.sar.disk.DiskCost;
import org.opendedup.sar.ssd.Cause;

/**
 * The policy that ranks by disk time saved per byte of SSD. A restore is slow not because a chunk has few references,
 * but because the disk must seek for few bytes. Monotone: more references, more heat or a greater saving never make a
 * chunk worth less.
 *
 * @param maxRunBytes written runs of at least this many bytes stay on the disk: a reader of the whole file reads them
 *     well
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

    /** The same for a chunk that a recipe wants: more likely than a mere duplicate, less than what was read. */
    private static final int RECIPE_SHARE = 4;

    /**
     * Promotes any written duplicate in a short run, and what was read in a run that the disk takes longer to reach
     * than to read: programs that start want 128 KiB and more of a place, and wait for the seek all the same. The rank
     * decides where space is short.
     */
    @Override
    public boolean promotes(Cause cause, int count, int lengthBytes, long runBytes) {
        return switch (cause) {
            case WRITE -> runBytes < maxRunBytes;
            case READ -> runBytes < Math.max(maxRunBytes, DiskCost.SEEK_BYTES);
            case RECIPE -> true;
        };
    }

    /**
     * Reduces the saving of chunks that nobody has read: most written duplicates never are, and a recipe says what a
     * reader of the whole file would want. The first read from the SSD corrects this.
     */
    @Override
    public int expectedSaving(Cause cause, int saving) {
        return switch (cause) {
            case WRITE -> Math.max(1, saving / WRITTEN_SHARE);
            case READ -> saving;
            case RECIPE -> Math.max(1, saving / RECIPE_SHARE);
        };
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
