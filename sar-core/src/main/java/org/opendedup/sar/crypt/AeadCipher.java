package org.opendedup.sar.crypt;

import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.spec.AlgorithmParameterSpec;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.spec.ChaCha20ParameterSpec;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.IvParameterSpec;

/** Ciphers that encrypt and authenticate, with keys of 256 bits. The order of the constants is that of the format. */
public enum AeadCipher {
    /** NIST SP 800-38D. Fast on processors with instructions for AES. */
    AES_256_GCM("AES-256-GCM", "AES", "AES/GCM/NoPadding"),
    /** RFC 8439. For other processors. */
    CHACHA20_POLY1305("ChaCha20-Poly1305", "ChaCha20", "ChaCha20-Poly1305");

    static final int NONCE_BYTES = 12;

    private final String usualName;
    private final String keyAlgorithm;
    private final String transformation;

    AeadCipher(String usualName, String keyAlgorithm, String transformation) {
        this.usualName = usualName;
        this.keyAlgorithm = keyAlgorithm;
        this.transformation = transformation;
    }

    String keyAlgorithm() {
        return keyAlgorithm;
    }

    Cipher open() {
        return Ciphers.get(transformation);
    }

    AlgorithmParameterSpec parameters(byte[] nonce) {
        return this == AES_256_GCM
                ? new GCMParameterSpec(Byte.SIZE * Sealer.TAG_BYTES, nonce)
                : new IvParameterSpec(nonce);
    }

    /** Returns a cipher that decrypts what this one encrypted, without its tag. */
    Cipher openWithoutTag(Key key, byte[] nonce) throws GeneralSecurityException {
        if (this == AES_256_GCM) {
            // GCM encrypts in counter mode; the first block of the text has counter 2 (SP 800-38D, 7.1).
            byte[] counter = Arrays.copyOf(nonce, Ciphers.AES_BLOCK_BYTES);
            counter[Ciphers.AES_BLOCK_BYTES - 1] = 2;
            Cipher cipher = Ciphers.get("AES/CTR/NoPadding");
            cipher.init(Cipher.DECRYPT_MODE, key, new IvParameterSpec(counter));
            return cipher;
        }
        // Block 0 makes the key of Poly1305 (RFC 8439, 2.8).
        Cipher cipher = Ciphers.get("ChaCha20");
        cipher.init(Cipher.DECRYPT_MODE, key, new ChaCha20ParameterSpec(nonce, 1));
        return cipher;
    }

    /** Returns the usual name of the cipher. */
    @Override
    public String toString() {
        return usualName;
    }
}
