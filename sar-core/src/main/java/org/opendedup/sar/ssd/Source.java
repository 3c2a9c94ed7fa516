package org.opendedup.sar.ssd;

/** Where a chunk of a read is taken from. */
public enum Source {
    /** Its frame, which is in memory. */
    MEMORY,
    /** Its copy on the SSD. */
    SSD,
    /** Its container. */
    HOME
}
