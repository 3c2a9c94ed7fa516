package org.opendedup.sar.hot.policy;

import org.opendedup.sar.disk.DiskCost;
import org.opendedup.sar.ssd.Cause;

/**
 * The paper's rule (SAR paper §3.4, §3.5): promotes chunks with many references in short runs. Monotone: more
 * references, a shorter run or a smaller record never make a chunk worth less.
 *
 * @param threshold references from which a written duplicate is promoted. A chunk that is read a second time is
 *     popular, whatever its count
 * @param maxRunBytes runs of at least this many bytes stay on the disk
 */
public record ReferenceCountPolicy(int threshold, long maxRunBytes) implements PromotionPolicy {
    /**
     * Largest count that the Map table can hold. Greater counts of candidates are cut to it, so that they rank as
     * entries do.
     */
    private static final int MAX_COUNT = 0xffff;

    private static final int HEAT_BITS = 8;
    /** The heat, and 16 bits of the saving. */
    private static final int SIZE_SHIFT = HEAT_BITS + 16;

    private static final int COUNT_SHIFT = 44;
    /** Upper bound of the record size, in bytes. */
    private static final int SIZES = (1 << 20) - 1;

    /** Never promotes for cause RECIPE: a file's recipe as a whole says nothing about reference counts. */
    @Override
    public boolean promotes(Cause cause, int count, int lengthBytes, long runBytes) {
        boolean wanted = switch (cause) {
            case WRITE -> count >= threshold;
            case READ -> true;
            case RECIPE -> false;
        };
        return wanted && runBytes < maxRunBytes;
    }

    /**
     * Keeps nothing below the threshold, not even chunks promoted by reading: an administrator who raises it wants that
     * space (SAR paper §3.5). A chunk that is still popular returns with its next two reads. The run is judged by its
     * saving.
     */
    @Override
    public boolean keeps(int count, int saving) {
        return count >= threshold && saving >= DiskCost.saving(maxRunBytes);
    }

    /**
     * Returns at most 1 for a chunk below the threshold that was promoted by its second read. Otherwise a scan of a
     * volume would displace hot chunks on a full SSD by chunks that are merely shared.
     */
    @Override
    public int worth(Cause cause, int count) {
        return cause == Cause.READ && count < threshold ? Math.min(count, 1) : count;
    }

    /**
     * Ranks by references first: fewer are demoted earlier. Among equal counts the larger record is demoted earlier,
     * then the one that the disk reads in less time, then the one with less heat. A candidate's record is not
     * compressed yet, so its size must not decide against an entry: size weighs less than any reference.
     */
    @Override
    public long rank(int count, int recordBytes, int saving, int heat) {
        // 16 bits of count, 20 of size, 16 of saving, 8 of heat: a rank never uses the sign bit, and the admission's
        // margin is counted in references.
        long smaller = SIZES - Math.min(recordBytes, SIZES);
        return (long) Math.min(count, MAX_COUNT) << COUNT_SHIFT
                | smaller << SIZE_SHIFT
                | (long) saving << HEAT_BITS
                | heat;
    }
}
