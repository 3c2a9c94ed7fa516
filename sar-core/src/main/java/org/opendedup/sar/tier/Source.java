package org.opendedup.sar.tier;

/** Where a chunk of a read comes from. */
public enum Source {
    /** Its frame is in memory. */
    MEMORY,
    /** Its copy on the SSD. */
    SSD,
    /** Its container. */
    HOME
}
