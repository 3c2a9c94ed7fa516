package org.opendedup.sar.volume;

/** What is checked of every frame that is read from a disk. */
public enum Verification {
    /** Its CRC-32C, and of each chunk used the four bytes of its fingerprint that the recipe keeps. */
    CHECKSUMS,
    /** Also the SHA-256 of each of its chunks; costs about half a millisecond a MiB of a core. */
    FINGERPRINTS
}
