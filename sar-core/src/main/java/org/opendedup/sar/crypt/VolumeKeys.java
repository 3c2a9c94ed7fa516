package org.opendedup.sar.crypt;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.UUID;
import org.bouncycastle.crypto.digests.SHA256Digest;
import org.bouncycastle.crypto.generators.HKDFBytesGenerator;
import org.bouncycastle.crypto.params.HKDFParameters;

/**
 * The keys of an encrypted volume: one random master key, from which HKDF with SHA-256 (RFC 5869) derives all others.
 * The volume's UUID is the salt, the {@link Purpose} and a context are the info. Safe for several threads.
 */
public final class VolumeKeys {
    /** Bytes of the master key, and of every derived key of one cipher. */
    public static final int KEY_BYTES = 32;

    private static final byte[] NO_CONTEXT = {};

    private final UUID volume;
    private final byte[] pseudorandomKey;
    private final AeadCipher cipher;

    /** @param master {@value #KEY_BYTES} random bytes; not kept */
    public VolumeKeys(byte[] master, UUID volume, AeadCipher cipher) {
        if (master.length != KEY_BYTES) {
            throw new IllegalArgumentException("a master key has " + KEY_BYTES + " bytes, not " + master.length);
        }
        this.volume = volume;
        ByteBuffer salt = ByteBuffer.allocate(2 * Long.BYTES);
        salt.putLong(volume.getMostSignificantBits()).putLong(volume.getLeastSignificantBits());
        pseudorandomKey = new HKDFBytesGenerator(new SHA256Digest()).extractPRK(salt.array(), master);
        this.cipher = cipher;
    }

    /** Returns the volume whose keys these are. */
    public UUID volume() {
        return volume;
    }

    /** Returns the cipher of what is written once. */
    public AeadCipher cipher() {
        return cipher;
    }

    /**
     * Derives bytes that only this volume, purpose and context have.
     *
     * @param count at most 8160
     */
    public byte[] derive(Purpose purpose, byte[] context, int count) {
        byte[] name = purpose.name().getBytes(StandardCharsets.US_ASCII);
        byte[] info = Arrays.copyOf(name, name.length + 1 + context.length);
        System.arraycopy(context, 0, info, name.length + 1, context.length);
        return expand(pseudorandomKey, info, count);
    }

    /** HKDF-Expand with SHA-256 (RFC 5869, 2.3). */
    static byte[] expand(byte[] pseudorandomKey, byte[] info, int count) {
        HKDFBytesGenerator expansion = new HKDFBytesGenerator(new SHA256Digest());
        expansion.init(HKDFParameters.skipExtractParameters(pseudorandomKey, info));
        byte[] key = new byte[count];
        expansion.generateBytes(key, 0, count);
        return key;
    }

    /**
     * Returns what seals bytes that are written once. Two sealers with the same purpose and context have the same key,
     * so they must never seal under the same number.
     */
    public Sealer sealer(Purpose purpose, byte[] context) {
        return new Sealer(cipher, derive(purpose, context, KEY_BYTES));
    }

    /** Returns what seals records that are overwritten, and names. */
    public DeterministicSealer deterministicSealer(Purpose purpose) {
        return new DeterministicSealer(derive(purpose, NO_CONTEXT, 2 * KEY_BYTES));
    }

    /** Returns what encrypts sectors that are overwritten in place. */
    public SectorCipher sectorCipher(Purpose purpose) {
        return sectorCipher(purpose, NO_CONTEXT);
    }

    /** As the other, with a key that only this context has. */
    public SectorCipher sectorCipher(Purpose purpose, byte[] context) {
        return new SectorCipher(derive(purpose, context, 2 * KEY_BYTES));
    }

    /** Returns random bytes: the context of a key that nothing remembers. */
    public static byte[] newContext() {
        byte[] context = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(context);
        return context;
    }

    /** Returns a keyed function to {@value KeyedHash#BYTES} bytes. */
    public KeyedHash keyedHash(Purpose purpose) {
        return new KeyedHash(derive(purpose, NO_CONTEXT, KEY_BYTES));
    }
}
