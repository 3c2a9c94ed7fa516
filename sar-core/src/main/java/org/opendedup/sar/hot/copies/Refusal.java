package org.opendedup.sar.hot.copies;

/** Why a chunk that was offered did not reach the SSD. */
public enum Refusal {
    /** Too few references to it. */
    COUNT,
    /** It was requested as part of a long run. */
    RUN,
    /** It is on the SSD already, or on its way there. */
    PRESENT,
    /** It is worth less than the chunks on the full SSD. */
    RANK,
    /** It is longer than a record can hold. */
    TOO_LARGE,
    /** Demotion and cleaning could not free enough space for it. */
    NO_ROOM,
    /**
     * The queue was full, and too many chunks were remembered; also counted once for a file range that was dropped
     * before it was judged.
     */
    QUEUE,
    /** No SSD was attached, or the SSD took no writes. */
    UNAVAILABLE,
    /** The SSD failed during the write, or was in the pause that follows a failure. */
    WRITE_FAILED,
    /** The bytes were not those of the chunk. */
    DAMAGED,
    /** Its bytes at home, or its reference count, could not be read. */
    UNREADABLE,
    /** It was remembered, but is no longer referenced. */
    UNREFERENCED
}
