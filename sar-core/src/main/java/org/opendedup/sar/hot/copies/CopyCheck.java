package org.opendedup.sar.hot.copies;

import java.security.MessageDigest;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.Sha256;

/** Checks whether bytes that an SSD returned are those that a recipe refers to. For use by one thread. */
@FunctionalInterface
public interface CopyCheck {
    /** @param fingerprintPrefix first bytes of the chunk's fingerprint, as in the recipe */
    boolean isRight(byte[] data, int offset, int length, int fingerprintPrefix);

    /** Returns a check that computes the fingerprint of the bytes. */
    static CopyCheck byFingerprint() {
        MessageDigest digest = Sha256.newDigest();
        return (data, offset, length, fingerprintPrefix) -> {
            digest.update(data, offset, length);
            return Fingerprints.fingerprintPrefix(digest.digest(), 0) == fingerprintPrefix;
        };
    }
}
