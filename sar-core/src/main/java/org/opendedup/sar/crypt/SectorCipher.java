package org.opendedup.sar.crypt;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.security.GeneralSecurityException;
import javax.crypto.Cipher;
import javax.crypto.spec.SecretKeySpec;

/**
 * AES-XTS with two keys of 256 bits (IEEE 1619, NIST SP 800-38E): sectors of a file that is overwritten in place keep
 * their length, and a write that a crash cut leaves each block of 16 bytes old or new. It does not authenticate: who
 * changes sealed bytes makes random bytes of them, 16 at a time. Safe for several threads.
 */
public final class SectorCipher {
    /** Bytes of a sector. */
    public static final int SECTOR_BYTES = 4096;
    /** Sectors may be shorter by a multiple of this. */
    public static final int BLOCK_BYTES = Ciphers.AES_BLOCK_BYTES;

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final SecretKeySpec dataKey;
    private final SecretKeySpec tweakKey;
    private final ThreadLocal<Work> works = ThreadLocal.withInitial(Work::new);

    /** @param keys the key of the data, then that of the tweaks, of the same length */
    SectorCipher(byte[] keys) {
        dataKey = new SecretKeySpec(keys, 0, keys.length / 2, "AES");
        tweakKey = new SecretKeySpec(keys, keys.length / 2, keys.length / 2, "AES");
    }

    /**
     * Encrypts a sector in place.
     *
     * @param file number of the file: with the sector's it makes the tweak
     * @param sector number of the sector in its file
     * @param length a multiple of {@value #BLOCK_BYTES}, at most {@value #SECTOR_BYTES}
     */
    public void encrypt(long file, long sector, byte[] bytes, int offset, int length) {
        Work work = works.get();
        work.apply(work.encryption, file, sector, bytes, offset, length);
    }

    /** Decrypts a sector in place; the parameters are those of {@link #encrypt}. */
    public void decrypt(long file, long sector, byte[] bytes, int offset, int length) {
        Work work = works.get();
        work.apply(work.decryption, file, sector, bytes, offset, length);
    }

    /** The ciphers of one thread. */
    private final class Work {
        private final Cipher encryption = open(Cipher.ENCRYPT_MODE, dataKey);
        private final Cipher decryption = open(Cipher.DECRYPT_MODE, dataKey);
        private final Cipher tweaks = open(Cipher.ENCRYPT_MODE, tweakKey);
        private final byte[] masks = new byte[SECTOR_BYTES];

        private static Cipher open(int mode, SecretKeySpec key) {
            try {
                Cipher cipher = Ciphers.get("AES/ECB/NoPadding");
                cipher.init(mode, key);
                return cipher;
            } catch (GeneralSecurityException e) {
                throw Ciphers.refused(e);
            }
        }

        void apply(Cipher cipher, long file, long sector, byte[] bytes, int offset, int length) {
            try {
                LONGS.set(masks, 0, sector);
                LONGS.set(masks, Long.BYTES, file);
                tweaks.doFinal(masks, 0, BLOCK_BYTES, masks, 0);
                for (int at = BLOCK_BYTES; at < length; at += BLOCK_BYTES) {
                    long low = (long) LONGS.get(masks, at - BLOCK_BYTES);
                    long high = (long) LONGS.get(masks, at - Long.BYTES);
                    // Multiplication by x in the field of 2^128 elements, the last byte having the highest powers.
                    LONGS.set(masks, at, low << 1 ^ (high < 0 ? 0x87 : 0));
                    LONGS.set(masks, at + Long.BYTES, high << 1 | low >>> 63);
                }
                mask(bytes, offset, length);
                cipher.doFinal(bytes, offset, length, bytes, offset);
                mask(bytes, offset, length);
            } catch (GeneralSecurityException e) {
                throw Ciphers.refused(e);
            }
        }

        private void mask(byte[] bytes, int offset, int length) {
            for (int i = 0; i < length; i += Long.BYTES) {
                LONGS.set(bytes, offset + i, (long) LONGS.get(bytes, offset + i) ^ (long) LONGS.get(masks, i));
            }
        }
    }
}
