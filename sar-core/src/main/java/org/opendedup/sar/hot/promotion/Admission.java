package org.opendedup.sar.hot.promotion;

import org.opendedup.sar.hot.policy.PromotionPolicy;

/** Guards a full SSD against chunks worth less than those demoted for space. Safe for use by many threads. */
public interface Admission {
    /** Admits every chunk. */
    Admission OPEN = rank -> true;

    /** Returns whether a candidate of this {@link PromotionPolicy#rank} is worth more than what it would displace. */
    boolean admits(long rank);

    /** Returns whether the SSD has room: nothing of much worth is displaced. */
    default boolean hasRoom() {
        return true;
    }

    /** Returns the bytes that may be promoted without any demotion. */
    default long freeBytes() {
        return Long.MAX_VALUE;
    }

    /** Returns whether a candidate of this rank justifies the demotion of another chunk. */
    default boolean displaces(long rank) {
        return admits(rank);
    }

    /** Notes requests for this many chunks on the SSD: the clock by which their heat ages. */
    default void noteHits(int chunks) {}
}
