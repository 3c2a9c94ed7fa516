package org.opendedup.sar.tier;

/** Guards a full SSD against what is worth less than the chunks that had to leave it. Safe for use by many threads. */
public interface Admission {
    /** Lets everything in. */
    Admission OPEN = rank -> true;

    /** Whether a candidate of this {@link PromotionPolicy#rank} is worth the place of what it would push out. */
    boolean admits(long rank);

    /** Whether the SSD is not full yet: nothing is pushed out that is worth much. */
    default boolean hasRoom() {
        return true;
    }

    /** Bytes that may be promoted before anything must leave. */
    default long freeBytes() {
        return Long.MAX_VALUE;
    }

    /** Whether a candidate of this rank is worth something's leaving for it. */
    default boolean displaces(long rank) {
        return admits(rank);
    }

    /** That many chunks of the SSD were wanted: the clock by which their heat ages. */
    default void noteHits(int chunks) {}
}
