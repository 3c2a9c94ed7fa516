package org.opendedup.sar.crypt;

import java.security.GeneralSecurityException;
import javax.crypto.Cipher;

/** Opens ciphers that every Java platform has. */
final class Ciphers {
    static final int AES_BLOCK_BYTES = 16;

    private Ciphers() {}

    static Cipher get(String transformation) {
        try {
            return Cipher.getInstance(transformation);
        } catch (GeneralSecurityException e) {
            throw new AssertionError("this Java platform has no " + transformation, e);
        }
    }

    /** Returns what is thrown if a cipher refuses a call that its contract allows. */
    static AssertionError refused(GeneralSecurityException e) {
        return new AssertionError("a cipher refused a valid call", e);
    }
}
