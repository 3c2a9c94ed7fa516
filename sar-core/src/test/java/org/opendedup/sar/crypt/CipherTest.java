package org.opendedup.sar.crypt;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Published vectors, and what each cipher must refuse. */
class CipherTest {
    private static final byte[] NOTHING = {};

    /** RFC 5869, A.1. */
    @Test
    void expandIsHkdf() {
        byte[] pseudorandomKey = hex("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5");
        assertEquals(
                "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
                hex(VolumeKeys.expand(pseudorandomKey, hex("f0f1f2f3f4f5f6f7f8f9"), 42)));
    }

    /** The GCM specification of McGrew and Viega, test cases 13 and 14, which have the nonce 0. */
    @Test
    void gcmOfTheSpecification() {
        Sealer sealer = new Sealer(AeadCipher.AES_256_GCM, new byte[32]);
        byte[] empty = new byte[16];
        sealer.seal(0, NOTHING, empty, 0, 0);
        assertEquals("530f8afbc74536b9a963b4f1c4cb738b", hex(empty));
        byte[] block = new byte[32];
        new Sealer(AeadCipher.AES_256_GCM, new byte[32]).seal(0, NOTHING, block, 0, 16);
        assertEquals("cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919", hex(block));
    }

    @ParameterizedTest
    @EnumSource
    void whatIsNotWhatWasSealedIsRefused(AeadCipher cipher) {
        Random random = new Random(7);
        byte[] key = bytes(random, 32);
        byte[] plain = bytes(random, 1000);
        byte[] associated = bytes(random, 40);
        Sealer sealer = new Sealer(cipher, key);
        byte[] sealed = Arrays.copyOf(plain, 1000 + Sealer.TAG_BYTES);
        sealer.seal(5, associated, sealed, 0, 1000);
        byte[] opened = new byte[1000];
        assertTrue(sealer.open(5, associated, sealed, 0, 1000, opened, 0));
        assertArrayEquals(plain, opened);

        for (int bit = 0; bit < Byte.SIZE * sealed.length; bit += 7) {
            sealed[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            assertFalse(sealer.open(5, associated, sealed, 0, 1000, opened, 0), "bit " + bit);
            sealed[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
        }
        assertFalse(sealer.open(6, associated, sealed, 0, 1000, opened, 0));
        assertFalse(sealer.open(5, bytes(random, 40), sealed, 0, 1000, opened, 0));
        assertFalse(sealer.open(5, associated, sealed, 0, 999, opened, 0));
        assertFalse(new Sealer(cipher, bytes(random, 32)).open(5, associated, sealed, 0, 1000, opened, 0));

        sealed[500] ^= 1;
        sealer.openDamaged(5, sealed, 0, 1000, opened, 0);
        opened[500] ^= 1;
        assertArrayEquals(plain, opened);
    }

    /** RFC 5297, A.1: keys of 128 bits. */
    @Test
    void sivOfTheSpecification() {
        DeterministicSealer sealer =
                new DeterministicSealer(hex("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"));
        byte[] associated = hex("101112131415161718191a1b1c1d1e1f2021222324252627");
        assertEquals(
                "85632d07c6e8f37f950acd320a2ecc9340c02b9690c4dc04daef7f6afe5c",
                hex(sealer.seal(associated, hex("112233445566778899aabbccddee"))));
    }

    @Test
    void sealedRecordsOpenAndAreRefusedIfChanged() {
        Random random = new Random(8);
        DeterministicSealer sealer = new DeterministicSealer(bytes(random, 64));
        for (int length = 0; length < 70; length++) {
            byte[] plain = bytes(random, length);
            byte[] associated = bytes(random, length % 40);
            byte[] sealed = sealer.seal(associated, plain);
            assertArrayEquals(sealed, sealer.seal(associated, plain));
            assertArrayEquals(plain, sealer.open(associated, sealed, 0));
            byte[] behind = new byte[sealed.length + 3];
            System.arraycopy(sealed, 0, behind, 3, sealed.length);
            assertArrayEquals(plain, sealer.open(associated, behind, 3));
            for (int bit = 0; bit < Byte.SIZE * sealed.length; bit++) {
                sealed[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
                assertNull(sealer.open(associated, sealed, 0));
                sealed[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            }
            assertNull(sealer.open(bytes(random, 41), sealed, 0));
            assertNull(sealer.open(associated, Arrays.copyOf(sealed, sealed.length - 1), 0));
        }
        assertNull(sealer.open(NOTHING, new byte[15], 0));
    }

    /** IEEE 1619, vectors 4 (first two blocks) and 10 (first two blocks). */
    @Test
    void xtsOfTheSpecification() {
        byte[] counting = new byte[512];
        for (int i = 0; i < counting.length; i++) {
            counting[i] = (byte) i;
        }
        byte[] sector = counting.clone();
        new SectorCipher(hex("2718281828459045235360287471352631415926535897932384626433832795"))
                .encrypt(0, 0, sector, 0, sector.length);
        assertEquals(
                "27a7479befa1d476489f308cd4cfa6e2a96e4bbe3208ff25287dd3819616e89c", hex(Arrays.copyOf(sector, 32)));
        sector = counting.clone();
        SectorCipher cipher = new SectorCipher(hex(
                "27182818284590452353602874713526624977572470936999595749669676273141592653589793238462643383279502884197"
                        + "169399375105820974944592"));
        cipher.encrypt(0, 0xff, sector, 0, sector.length);
        assertEquals(
                "1c3b3a102f770386e4836c99e370cf9bea00803f5e482357a4ae12d414a3e63b", hex(Arrays.copyOf(sector, 32)));
        cipher.decrypt(0, 0xff, sector, 0, sector.length);
        assertArrayEquals(counting, sector);
    }

    @Test
    void keysDifferByVolumePurposeAndContext() {
        byte[] master = bytes(new Random(9), 32);
        UUID volume = new UUID(1, 2);
        VolumeKeys keys = new VolumeKeys(master, volume, AeadCipher.AES_256_GCM);
        byte[] context = {1};
        byte[] key = keys.derive(Purpose.CONTAINERS, context, 32);
        assertArrayEquals(
                key, new VolumeKeys(master, volume, AeadCipher.AES_256_GCM).derive(Purpose.CONTAINERS, context, 32));
        assertNotEquals(hex(key), hex(keys.derive(Purpose.CONTAINERS, new byte[] {2}, 32)));
        assertNotEquals(hex(key), hex(keys.derive(Purpose.SSD, context, 32)));
        assertNotEquals(
                hex(key),
                hex(new VolumeKeys(master, new UUID(1, 3), AeadCipher.AES_256_GCM)
                        .derive(Purpose.CONTAINERS, context, 32)));
    }

    /** RFC 4231, test case 2. */
    @Test
    void keyedHashIsHmac() {
        KeyedHash hash = new KeyedHash("Jefe".getBytes(StandardCharsets.US_ASCII));
        assertEquals(
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
                hex(hash.hash("what do ya want for nothing?".getBytes(StandardCharsets.US_ASCII))));
        assertNotNull(hash.hash(NOTHING));
    }

    private static byte[] bytes(Random random, int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }

    private static byte[] hex(String text) {
        return HexFormat.of().parseHex(text);
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }
}
