package org.opendedup.sar.tier;

/** Guards a full SSD against what is worth less than the chunks that had to leave it. Safe for use by many threads. */
public interface Admission {
    /** Lets everything in. */
    Admission OPEN = rank -> true;

    /** Whether a candidate of this {@link PromotionPolicy#rank} is worth the place of what it would push out. */
    boolean admits(long rank);

    /** That many chunks of the SSD were wanted: the clock by which their heat ages. */
    default void noteHits(int chunks) {}
}
