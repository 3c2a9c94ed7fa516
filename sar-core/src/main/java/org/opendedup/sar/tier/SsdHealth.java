package org.opendedup.sar.tier;

import java.time.Duration;

/** Told of how reads of the SSD go. Called on the way of reads, with locks held: must not wait, nor call back. */
public interface SsdHealth {
    SsdHealth IGNORED = new SsdHealth() {};

    /** It answered too late too often: it is not asked for so long. */
    default void suspended(Duration pause) {}

    /** It answered in time again. */
    default void resumed() {}

    /** A read brought what it should. */
    default void goodRead() {}
}
