package org.opendedup.sar.tier;

/**
 * The paper's rule (SAR paper §3.4, §3.5): chunks of many references, in short runs. Monotone: more references, a shorter run or a
 * smaller record never make a chunk worth less.
 *
 * @param threshold references from which a duplicate that is written is promoted. A chunk read a second time is popular by that,
 *     whatever its count
 * @param maxRunBytes runs as long as this or longer stay on the disk
 */
public record ReferenceCountPolicy(int threshold, long maxRunBytes) implements PromotionPolicy {
    /** What the Map table can hold of a count: ranks of candidates must not differ from those of entries beyond it. */
    private static final int MAX_COUNT = 0xffff;

    private static final int HEAT_BITS = 8;

    /** A file's recipe as a whole says nothing about reference counts: nothing is promoted for it. */
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
     * Below the threshold nothing stays, what was promoted by reading included: an administrator who raises it wants that space
     * (SAR paper §3.5). What is still popular comes back with its next two reads. The run is judged by what it saves.
     */
    @Override
    public boolean keeps(int count, int saving) {
        return count >= threshold && saving >= DiskCost.saving(maxRunBytes);
    }

    /**
     * A chunk that only its second read brought here is worth one reference: when the SSD is full, a scan of a volume would
     * otherwise push out what is hot for what is merely shared.
     */
    @Override
    public int worth(Cause cause, int count) {
        return cause == Cause.READ && count < threshold ? Math.min(count, 1) : count;
    }

    /** It does not count in the rank. */
    @Override
    public int expectedSaving(Cause cause, int saving) {
        return saving;
    }

    @Override
    public boolean displaces(Cause cause) {
        return true;
    }

    /** References per byte: of larger size and lower count leaves first. Heat decides between equals only. */
    @Override
    public long rank(int count, int recordBytes, int saving, int heat) {
        // 16 bits of count, 32 of fraction, 8 of heat: a rank never fills the sign bit.
        long perByte = ((long) Math.min(count, MAX_COUNT) << 32) / recordBytes;
        return perByte << HEAT_BITS | heat;
    }
}
