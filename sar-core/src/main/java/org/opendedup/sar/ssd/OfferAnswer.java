package org.opendedup.sar.ssd;

/** What became of a chunk that was offered to an SSD. */
public enum OfferAnswer {
    /** Taken; on the SSD, and in the Map table, a little later. */
    TAKEN,
    /** It is there already, or on its way. */
    PRESENT,
    /** Too much is on its way. */
    QUEUE_FULL,
    /** No SSD is attached, or it takes no writes. */
    UNAVAILABLE
}
