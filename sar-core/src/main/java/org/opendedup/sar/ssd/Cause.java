package org.opendedup.sar.ssd;

/** Why a chunk is promoted. */
public enum Cause {
    /** A duplicate was written; its bytes were in memory (SAR paper §3.4, write path). */
    WRITE,
    /**
     * It was read a second time, or, if the policy promotes first reads, once; its bytes were in memory (SAR paper
     * §3.4, read path).
     */
    READ,
    /** A file's recipe, known as a whole once the file is written, uses little of the chunk's container. */
    RECIPE
}
