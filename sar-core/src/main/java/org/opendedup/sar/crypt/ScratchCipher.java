package org.opendedup.sar.crypt;

import java.io.InputStream;
import java.io.OutputStream;
import java.security.GeneralSecurityException;
import javax.crypto.Cipher;
import javax.crypto.CipherInputStream;
import javax.crypto.CipherOutputStream;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Encrypts one sequence of bytes that only this process reads, by AES in counter mode (NIST SP 800-38A, 6.5) under a
 * random key that nothing remembers. It does not authenticate.
 */
public final class ScratchCipher {
    private final SecretKeySpec key = new SecretKeySpec(VolumeKeys.newContext(), "AES");
    private boolean isUsed;

    /**
     * Returns a stream that writes what it gets to the target, encrypted. To be called once.
     *
     * @throws IllegalStateException if it was called: the key would encrypt two texts in the same way
     */
    public OutputStream encrypting(OutputStream target) {
        if (isUsed) {
            throw new IllegalStateException("the key of a scratch file encrypts one text");
        }
        isUsed = true;
        return new CipherOutputStream(target, cipher(Cipher.ENCRYPT_MODE));
    }

    /** Returns a stream of what was encrypted, from its beginning. */
    public InputStream decrypting(InputStream source) {
        return new CipherInputStream(source, cipher(Cipher.DECRYPT_MODE));
    }

    private Cipher cipher(int mode) {
        try {
            Cipher cipher = Ciphers.get("AES/CTR/NoPadding");
            cipher.init(mode, key, new IvParameterSpec(new byte[Ciphers.AES_BLOCK_BYTES]));
            return cipher;
        } catch (GeneralSecurityException e) {
            throw Ciphers.refused(e);
        }
    }
}
