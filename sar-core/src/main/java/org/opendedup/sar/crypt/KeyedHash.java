package org.opendedup.sar.crypt;

import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** HMAC with SHA-256 (RFC 2104) under one key: nobody without it can compute or check one. Safe for several threads. */
public final class KeyedHash {
    /** Bytes of a hash. */
    public static final int BYTES = 32;

    private static final String ALGORITHM = "HmacSHA256";

    private final SecretKeySpec key;
    private final ThreadLocal<Mac> macs = ThreadLocal.withInitial(this::open);

    KeyedHash(byte[] key) {
        this.key = new SecretKeySpec(key, ALGORITHM);
    }

    private Mac open() {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            return mac;
        } catch (GeneralSecurityException e) {
            throw Ciphers.refused(e);
        }
    }

    /** Writes the hash of {@code length} bytes to {@code target}, which may be the same array. */
    public void hash(byte[] bytes, int offset, int length, byte[] target, int targetOffset) {
        Mac mac = macs.get();
        mac.update(bytes, offset, length);
        try {
            mac.doFinal(target, targetOffset);
        } catch (GeneralSecurityException e) {
            throw Ciphers.refused(e);
        }
    }

    /** Returns the hash of all bytes. */
    public byte[] hash(byte[] bytes) {
        byte[] hash = new byte[BYTES];
        hash(bytes, 0, bytes.length, hash, 0);
        return hash;
    }
}
