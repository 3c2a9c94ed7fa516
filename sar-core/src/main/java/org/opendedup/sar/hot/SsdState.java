package org.opendedup.sar.hot;

/** State of a volume's SSD. */
public enum SsdState {
    /** The volume has no SSD location. */
    NONE,
    ONLINE,
    /** Copies are read; nothing is promoted, because the SSD takes no writes. */
    READ_ONLY,
    /** The SSD answers too slowly, and is tried again from time to time. */
    SUSPENDED,
    /** An administrator detached the SSD, or it was missing when the volume was mounted. */
    DETACHED,
    /** The SSD failed too often. An administrator must attach it, or another one. */
    FAILED
}
