package org.opendedup.sar.ssd;

/** Final outcome of a chunk that an SSD had {@link OfferAnswer#TAKEN}. */
public enum OfferFate {
    /** Its record is written and its entry is in the Map table. */
    LANDED,
    /** There was no space for it: demotion and cleaning did not free enough. */
    NO_ROOM,
    /** Its bytes were not those of the chunk. */
    DAMAGED,
    /** The SSD failed the write, or was in the pause that follows a failure. */
    WRITE_FAILED
}
