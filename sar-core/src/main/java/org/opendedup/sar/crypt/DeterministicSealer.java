package org.opendedup.sar.crypt;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * AES-SIV (RFC 5297) with two keys of 256 bits: authenticated encryption without a nonce. The same bytes with the same
 * associated bytes have the same sealed form, which is all that it reveals. So records can be overwritten, and names
 * looked up, without a counter that a crash or a copied disk could set back. Safe for several threads.
 */
public final class DeterministicSealer {
    /** Bytes that a sealed form has more. */
    public static final int OVERHEAD_BYTES = 16;

    private static final int BLOCK = Ciphers.AES_BLOCK_BYTES;
    private static final byte[] ZERO = new byte[BLOCK];

    private final SecretKeySpec macKey;
    private final SecretKeySpec counterKey;
    private final ThreadLocal<Work> works = ThreadLocal.withInitial(Work::new);

    /** @param keys the key of the synthetic IV, then that of the counter mode, of the same length; not kept */
    public DeterministicSealer(byte[] keys) {
        macKey = new SecretKeySpec(keys, 0, keys.length / 2, "AES");
        counterKey = new SecretKeySpec(keys, keys.length / 2, keys.length / 2, "AES");
    }

    /** Returns the sealed form: the synthetic IV, then the encrypted bytes. */
    public byte[] seal(byte[] associated, byte[] bytes) {
        return works.get().seal(associated, bytes);
    }

    /**
     * Returns what was sealed, or null if these are not bytes that this key sealed with the same associated bytes.
     *
     * @param offset where in {@code sealed} the sealed form begins; it has all bytes from there on
     */
    public byte @Nullable [] open(byte[] associated, byte[] sealed, int offset) {
        return sealed.length - offset < OVERHEAD_BYTES ? null : works.get().open(associated, sealed, offset);
    }

    /** The ciphers of one thread. */
    private final class Work {
        /** CBC with a zero IV: its last block is that of CMAC if the last block of the input is masked. */
        private final Cipher chain = Ciphers.get("AES/CBC/NoPadding");

        private final Cipher counter = Ciphers.get("AES/CTR/NoPadding");
        private final byte[] wholeMask;
        private final byte[] partMask;
        private final byte[] macOfZero;
        private byte[] input = new byte[16 * BLOCK];
        private byte[] output = new byte[16 * BLOCK];

        Work() {
            try {
                chain.init(Cipher.ENCRYPT_MODE, macKey, new IvParameterSpec(ZERO));
                wholeMask = doubled(chain.doFinal(ZERO));
                partMask = doubled(wholeMask);
                macOfZero = mac(ZERO, 0, BLOCK, null);
            } catch (GeneralSecurityException e) {
                throw Ciphers.refused(e);
            }
        }

        byte[] seal(byte[] associated, byte[] bytes) {
            try {
                byte[] vector = vector(associated, bytes, 0, bytes.length);
                byte[] sealed = Arrays.copyOf(vector, OVERHEAD_BYTES + bytes.length);
                startCounter(vector);
                counter.doFinal(bytes, 0, bytes.length, sealed, OVERHEAD_BYTES);
                return sealed;
            } catch (GeneralSecurityException e) {
                throw Ciphers.refused(e);
            }
        }

        byte @Nullable [] open(byte[] associated, byte[] sealed, int offset) {
            try {
                byte[] vector = Arrays.copyOfRange(sealed, offset, offset + OVERHEAD_BYTES);
                startCounter(vector);
                int from = offset + OVERHEAD_BYTES;
                byte[] bytes = counter.doFinal(sealed, from, sealed.length - from);
                return MessageDigest.isEqual(vector, vector(associated, bytes, 0, bytes.length)) ? bytes : null;
            } catch (GeneralSecurityException e) {
                throw Ciphers.refused(e);
            }
        }

        private void startCounter(byte[] vector) throws GeneralSecurityException {
            byte[] start = vector.clone();
            start[8] &= 0x7f;
            start[12] &= 0x7f;
            counter.init(Cipher.ENCRYPT_MODE, counterKey, new IvParameterSpec(start));
        }

        /** S2V (RFC 5297, 2.4) of one string of associated bytes and the bytes. */
        private byte[] vector(byte[] associated, byte[] bytes, int offset, int length) throws GeneralSecurityException {
            byte[] sum = doubled(macOfZero);
            xor(mac(associated, 0, associated.length, null), sum, 0);
            if (length >= BLOCK) {
                return mac(bytes, offset, length, sum);
            }
            sum = doubled(sum);
            for (int i = 0; i < length; i++) {
                sum[i] ^= bytes[offset + i];
            }
            sum[length] ^= (byte) 0x80;
            return mac(sum, 0, BLOCK, null);
        }

        /**
         * AES-CMAC (RFC 4493).
         *
         * @param atEnd is added to the last block's length of bytes before; null: nothing is
         */
        private byte[] mac(byte[] bytes, int offset, int length, byte @Nullable [] atEnd)
                throws GeneralSecurityException {
            int blocks = Math.max(1, (length + BLOCK - 1) / BLOCK);
            int padded = blocks * BLOCK;
            if (input.length < padded) {
                input = new byte[padded];
                output = new byte[padded];
            }
            System.arraycopy(bytes, offset, input, 0, length);
            if (atEnd != null) {
                xor(atEnd, input, length - BLOCK);
            }
            if (length < padded) {
                input[length] = (byte) 0x80;
                Arrays.fill(input, length + 1, padded, (byte) 0);
            }
            xor(length < padded ? partMask : wholeMask, input, padded - BLOCK);
            chain.doFinal(input, 0, padded, output, 0);
            return Arrays.copyOfRange(output, padded - BLOCK, padded);
        }

        private static void xor(byte[] block, byte[] target, int offset) {
            for (int i = 0; i < BLOCK; i++) {
                target[offset + i] ^= block[i];
            }
        }

        /** Multiplication by x in the field of 2^128 elements, the first byte having the highest powers. */
        private static byte[] doubled(byte[] block) {
            byte[] result = new byte[BLOCK];
            for (int i = 0; i < BLOCK - 1; i++) {
                result[i] = (byte) (block[i] << 1 | (block[i + 1] & 0x80) >>> 7);
            }
            result[BLOCK - 1] = (byte) (block[BLOCK - 1] << 1 ^ (block[0] < 0 ? 0x87 : 0));
            return result;
        }
    }
}
