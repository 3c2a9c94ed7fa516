package org.opendedup.sar.hot.copies;

import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.ContentHasher;
import org.opendedup.sar.common.Fingerprints;

/** Checks whether bytes that an SSD returned are those that a recipe refers to. For use by one thread. */
@FunctionalInterface
public interface CopyCheck {
    /** @param fingerprintPrefix first bytes of the chunk's fingerprint, as in the recipe */
    boolean isRight(byte[] data, int offset, int length, int fingerprintPrefix);

    /** Returns a check that computes the fingerprint of the bytes as volumes of files do. */
    static CopyCheck byFingerprint() {
        return byFingerprint(ContentHash.SHA_256);
    }

    /** Returns a check that computes the fingerprint of the bytes. */
    static CopyCheck byFingerprint(ContentHash hash) {
        ContentHasher hasher = new ContentHasher();
        byte[] found = new byte[Fingerprints.BYTES];
        return (data, offset, length, fingerprintPrefix) -> {
            hasher.fingerprint(hash, data, offset, length, found, 0);
            return Fingerprints.fingerprintPrefix(found, 0) == fingerprintPrefix;
        };
    }
}
