package org.opendedup.sar.scrub;

/**
 * What a scrub has verified and found.
 *
 * @param containers verified containers
 * @param bytes their bytes on the disk
 * @param chunks their chunks
 * @param damagedFrames frames that are not what was written
 * @param damagedContainers containers whose directory is damaged, or that are missing
 * @param contradictions containers about which the metadata say something else
 */
public record ScrubTotals(
        long containers, long bytes, long chunks, long damagedFrames, long damagedContainers, long contradictions) {
    /** Of a scrub that begins. */
    public static final ScrubTotals NONE = new ScrubTotals(0, 0, 0, 0, 0, 0);

    /** Returns whether nothing is wrong with what was verified. */
    public boolean isClean() {
        return damagedFrames == 0 && damagedContainers == 0 && contradictions == 0;
    }

    ScrubTotals plusVerified(long moreBytes, long moreChunks) {
        return new ScrubTotals(
                containers + 1,
                bytes + moreBytes,
                chunks + moreChunks,
                damagedFrames,
                damagedContainers,
                contradictions);
    }

    ScrubTotals plusDamagedFrame() {
        return new ScrubTotals(containers, bytes, chunks, damagedFrames + 1, damagedContainers, contradictions);
    }

    ScrubTotals plusDamagedContainer() {
        return new ScrubTotals(containers, bytes, chunks, damagedFrames, damagedContainers + 1, contradictions);
    }

    ScrubTotals plusContradiction() {
        return new ScrubTotals(containers, bytes, chunks, damagedFrames, damagedContainers, contradictions + 1);
    }
}
