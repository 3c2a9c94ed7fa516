package org.opendedup.sar.common;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class ContentHashTest {
    private final ContentHasher hasher = new ContentHasher();

    private byte[] fingerprint(ContentHash hash, byte[] bytes) {
        byte[] target = new byte[3 + Fingerprints.BYTES];
        hasher.fingerprint(hash, bytes, 0, bytes.length, target, 3);
        return Arrays.copyOfRange(target, 3, target.length);
    }

    private String hex(ContentHash hash, String text) {
        byte[] made = fingerprint(hash, text.getBytes(StandardCharsets.US_ASCII));
        return HexFormat.of().formatHex(ContentHash.ofClient(made, 0));
    }

    @Test
    void functionsHaveTheirPublishedValues() {
        assertEquals("900150983cd24fb0d6963f7d28e17f72", hex(ContentHash.MD5, "abc")); // RFC 1321
        assertEquals(
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", // FIPS 180-4
                hex(ContentHash.SHA_256, "abc"));
    }

    @Test
    void aFingerprintSaysHowItWasMade() throws IOException {
        byte[] bytes = "some bytes".getBytes(StandardCharsets.US_ASCII);
        for (ContentHash hash : ContentHash.values()) {
            byte[] made = fingerprint(hash, bytes);
            assertEquals(hash, ContentHash.of(made));
            byte[] ofClient = ContentHash.ofClient(made, 0);
            assertEquals(hash.bytes(), ofClient.length);
            assertArrayEquals(made, hash.stored(ofClient));
            assertTrue(hasher.matches(bytes, 0, bytes.length, made, 0), hash::toString);
            // Each bit counts, also of what says how it was made.
            for (int bit = 0; bit < Fingerprints.BYTES * Byte.SIZE; bit++) {
                byte[] other = made.clone();
                other[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
                assertFalse(hasher.matches(bytes, 0, bytes.length, other, 0), hash + ", bit " + bit);
            }
            assertFalse(hasher.matches(bytes, 1, bytes.length - 1, made, 0));
            assertThrows(IOException.class, () -> hash.stored(new byte[hash.bytes() - 1]));
        }
    }
}
