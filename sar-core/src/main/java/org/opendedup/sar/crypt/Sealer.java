package org.opendedup.sar.crypt;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.SecretKeySpec;

/**
 * Encrypts and authenticates bytes that are written once (authenticated encryption with associated data), under one
 * key. Each sealing needs a number that this key never seals other bytes under: the same number for different bytes
 * would reveal both, and would let an attacker forge. For one thread at a time: opening another cipher of the same key
 * costs a microsecond.
 */
public final class Sealer {
    /** Bytes that follow sealed ones and authenticate them. */
    public static final int TAG_BYTES = 16;

    private final AeadCipher algorithm;
    private final SecretKeySpec key;

    Sealer(AeadCipher algorithm, byte[] key) {
        this.algorithm = algorithm;
        this.key = new SecretKeySpec(key, algorithm.keyAlgorithm());
    }

    /**
     * Encrypts bytes in place, and writes a tag of {@value #TAG_BYTES} bytes after them.
     *
     * @param number never used before with this key
     * @param associated what is authenticated with the bytes, and must be the same to open them
     */
    public void seal(long number, byte[] associated, byte[] bytes, int offset, int length) {
        try {
            cipher(Cipher.ENCRYPT_MODE, number, associated).doFinal(bytes, offset, length, bytes, offset);
        } catch (GeneralSecurityException e) {
            throw Ciphers.refused(e);
        }
    }

    /**
     * Decrypts {@code length} bytes, which their tag follows. The target may be the source, at the same offset.
     *
     * @return false if the bytes, the tag, the number or the associated bytes are not those of a sealing with this key;
     *     the target's bytes are then undefined
     */
    public boolean open(
            long number, byte[] associated, byte[] sealed, int offset, int length, byte[] target, int targetOffset) {
        try {
            cipher(Cipher.DECRYPT_MODE, number, associated)
                    .doFinal(sealed, offset, length + TAG_BYTES, target, targetOffset);
            return true;
        } catch (AEADBadTagException e) {
            return false;
        } catch (GeneralSecurityException e) {
            throw Ciphers.refused(e);
        }
    }

    /**
     * Decrypts bytes without asking their tag. Only for who has another proof of what they are: a damaged byte damages
     * the byte at its place.
     */
    public void openDamaged(long number, byte[] sealed, int offset, int length, byte[] target, int targetOffset) {
        try {
            algorithm.openWithoutTag(key, nonce(number)).doFinal(sealed, offset, length, target, targetOffset);
        } catch (GeneralSecurityException e) {
            throw Ciphers.refused(e);
        }
    }

    /** A cipher is not used twice: that of ChaCha20 refuses to open the same bytes again. */
    private Cipher cipher(int mode, long number, byte[] associated) throws GeneralSecurityException {
        Cipher cipher = algorithm.open();
        cipher.init(mode, key, algorithm.parameters(nonce(number)));
        cipher.updateAAD(associated);
        return cipher;
    }

    private static byte[] nonce(long number) {
        ByteBuffer nonce = ByteBuffer.allocate(AeadCipher.NONCE_BYTES);
        nonce.putLong(Integer.BYTES, number);
        return nonce.array();
    }
}
