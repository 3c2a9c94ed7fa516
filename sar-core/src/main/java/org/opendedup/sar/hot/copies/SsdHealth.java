package org.opendedup.sar.hot.copies;

import java.time.Duration;

/** Receives how reads of the SSD go. Called on the read path, with locks held: must neither wait nor call back. */
public interface SsdHealth {
    SsdHealth IGNORED = new SsdHealth() {};

    /** Notes that the SSD answered too late too often, and is not used for this pause. */
    default void onSuspended(Duration pause) {}

    /** Notes that the SSD answered in time again. */
    default void onResumed() {}

    /** Notes that a read returned the right bytes. */
    default void onGoodRead() {}
}
