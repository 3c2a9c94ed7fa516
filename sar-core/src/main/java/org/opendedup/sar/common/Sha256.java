package org.opendedup.sar.common;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** The JDK's SHA-256. */
public final class Sha256 {
    private Sha256() {}

    /** Returns a new digest of this kind. */
    public static MessageDigest newDigest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }
}
