package org.opendedup.sar.volume.config;

/** What is checked for every frame that is read from a disk. */
public enum Verification {
    /** The CRC-32C of the frame, and for each chunk used the four bytes of its fingerprint that the recipe keeps. */
    CHECKSUMS,
    /**
     * In addition, the SHA-256 of each chunk in the frame; costs approximately half a millisecond of one core per MiB.
     */
    FINGERPRINTS
}
