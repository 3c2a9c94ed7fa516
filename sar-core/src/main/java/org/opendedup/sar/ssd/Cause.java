package org.opendedup.sar.ssd;

/** Why a chunk is promoted. */
public enum Cause {
    /** A duplicate was written; its bytes were in memory (SAR paper §3.4, write path). */
    WRITE,
    /** It was read from the disk a second time; its bytes were in memory (SAR paper §3.4, read path). */
    READ,
    /** A file's recipe, known as a whole once the file is written, uses little of the chunk's container. */
    RECIPE
}
