package org.opendedup.sar.common;

import java.security.DigestException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Computes and compares fingerprints. For use by one thread. */
public final class ContentHasher {
    private final MessageDigest sha256 = Sha256.newDigest();
    private final byte[] found = new byte[Fingerprints.BYTES];
    private @Nullable MessageDigest md5;

    /** Writes the fingerprint of {@code length} bytes from {@code from} on to {@code target}. */
    public void fingerprint(ContentHash hash, byte[] bytes, int from, int length, byte[] target, int at) {
        MessageDigest digest = hash == ContentHash.MD5 ? md5() : sha256;
        digest.update(bytes, from, length);
        try {
            digest.digest(target, at, hash.bytes());
        } catch (DigestException e) {
            throw new AssertionError("there is room for a fingerprint", e);
        }
        hash.complete(target, at);
    }

    private MessageDigest md5() {
        if (md5 == null) {
            try {
                md5 = MessageDigest.getInstance("MD5");
            } catch (NoSuchAlgorithmException e) {
                throw new AssertionError("every Java platform has MD5", e);
            }
        }
        return md5;
    }

    /**
     * Returns whether {@code length} bytes from {@code from} on have the fingerprint that begins at {@code at}, by the
     * function that it names.
     */
    public boolean matches(byte[] bytes, int from, int length, byte[] fingerprints, int at) {
        fingerprint(ContentHash.of(fingerprints, at), bytes, from, length, found, 0);
        return Arrays.equals(found, 0, Fingerprints.BYTES, fingerprints, at, at + Fingerprints.BYTES);
    }
}
