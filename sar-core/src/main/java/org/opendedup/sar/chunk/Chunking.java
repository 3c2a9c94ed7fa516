package org.opendedup.sar.chunk;

/** How streams are cut into chunks (SDFS: hash-type). */
public enum Chunking {
    /** Content-defined: FastCDC with chunks of 2 to 64 KiB, 8 KiB on average. */
    VARIABLE_SHA256,
    /** Fixed chunks of 4 KiB. */
    SHA256
}
