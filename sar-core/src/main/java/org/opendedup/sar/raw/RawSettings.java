package org.opendedup.sar.raw;

/**
 * How the fast tier is used for raw files.
 *
 * @param placement where new files are stored first, except in folders that say otherwise
 * @param capacityBytes limit of the bytes of all raw files; new files become chunks at once while it is reached
 * @param highPercent share of the capacity, in percent, from which files are migrated
 * @param lowPercent share of the capacity, in percent, at which migration ends
 * @param copyAfterS seconds after which a raw file that is at rest is also stored in chunks, so that the loss of the
 *     fast tier does not lose it; 0: only when it is migrated
 * @param rule which files are migrated first
 */
public record RawSettings(
        Placement placement, long capacityBytes, int highPercent, int lowPercent, int copyAfterS, MigrationRule rule) {
    public static final int HIGH_PERCENT = 85;
    public static final int LOW_PERCENT = 70;

    /** No raw files, except in folders that ask for them; the fast tier has no place for them then. */
    public static final RawSettings NONE = new RawSettings(Placement.SAR, 0, HIGH_PERCENT, LOW_PERCENT, 0);

    /** @throws IllegalArgumentException if a value is out of range; the message names it and the range */
    public RawSettings {
        if (capacityBytes < 0) {
            throw new IllegalArgumentException("the capacity for raw files is negative: " + capacityBytes);
        }
        if (lowPercent < 1 || highPercent > 100 || lowPercent > highPercent) {
            throw new IllegalArgumentException("migration begins at " + highPercent + " % and ends at " + lowPercent
                    + " %; both must be from 1 to 100, and the end not above the begin");
        }
        if (copyAfterS < 0) {
            throw new IllegalArgumentException("raw files cannot be stored after " + copyAfterS + " seconds");
        }
    }

    /** Makes settings by which the least recently used files are migrated first. */
    public RawSettings(Placement placement, long capacityBytes, int highPercent, int lowPercent, int copyAfterS) {
        this(placement, capacityBytes, highPercent, lowPercent, copyAfterS, MigrationRule.LRU);
    }

    /** Returns whether the volume can have raw files. */
    public boolean isEnabled() {
        return capacityBytes > 0;
    }
}
