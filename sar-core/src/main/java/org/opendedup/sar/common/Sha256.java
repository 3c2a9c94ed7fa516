package org.opendedup.sar.common;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;

/** Computes and compares fingerprints. For use by one thread. */
public final class Sha256 {
    private final MessageDigest digest = newDigest();

    /** Returns a new digest of this kind. */
    public static MessageDigest newDigest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }

    /** Returns whether {@code length} bytes from {@code offset} on have the fingerprint that begins at {@code at}. */
    public boolean matches(byte[] bytes, int offset, int length, byte[] fingerprints, int at) {
        digest.update(bytes, offset, length);
        byte[] found = digest.digest();
        return Arrays.equals(found, 0, Fingerprints.BYTES, fingerprints, at, at + Fingerprints.BYTES);
    }
}
