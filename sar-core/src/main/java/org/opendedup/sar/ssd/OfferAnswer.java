package org.opendedup.sar.ssd;

/** Immediate answer to the offer of a chunk to an SSD. */
public enum OfferAnswer {
    /** Accepted; soon on the SSD and in the Map table, unless that fails: see {@link OfferFate}. */
    TAKEN,
    /** Already on the SSD and in the Map table: the answer of an SSD without a queue. */
    LANDED,
    /** It is on the SSD already, or on its way there. */
    PRESENT,
    /** The queue is full. */
    QUEUE_FULL,
    /** It is longer than a record can hold. */
    TOO_LARGE,
    /** No SSD is attached, or it takes no writes. */
    UNAVAILABLE
}
