package org.opendedup.sar.keys;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import org.bouncycastle.crypto.params.Argon2Parameters;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.crypt.AeadCipher;
import org.opendedup.sar.fuzz.ParserSet;

class KeyHeaderTest {
    static final Argon2Cost CHEAP = new Argon2Cost(64, 1, 1);
    /** Where the generation is in the bytes, u64. */
    static final int GENERATION = 24;

    static final UUID VOLUME = UUID.fromString("01234567-89ab-cdef-0123-456789abcdef");
    static final Instant NOW = Instant.parse("2026-11-29T18:00:00Z");
    static final byte[] MASTER = HexFormat.of().parseHex("00112233445566778899aabbccddeeff".repeat(2));

    static Secret passphrase(String text) {
        return new Secret(Secret.Kind.PASSPHRASE, text.getBytes(UTF_8));
    }

    static KeyHeader header(String passphrase) throws IOException {
        return KeyHeader.create(
                VOLUME, AeadCipher.AES_256_GCM, MASTER.clone(), "first", NOW, CHEAP, passphrase(passphrase));
    }

    @Test
    void argon2idGivesTheVectorOfTheRfc() {
        // RFC 9106, 5.3.
        var parameters = new Argon2Parameters.Builder(Argon2Parameters.ARGON2_id)
                .withVersion(Argon2Parameters.ARGON2_VERSION_13)
                .withSalt(filled(16, 2))
                .withSecret(filled(8, 3))
                .withAdditional(filled(12, 4));
        assertEquals(
                "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659",
                HexFormat.of().formatHex(new Argon2Cost(32, 3, 4).derive(parameters, filled(32, 1), 32)));
    }

    private static byte[] filled(int length, int value) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }

    @Test
    void aMeasuredCostIsWithinItsBounds() throws IOException {
        Argon2Cost cost = Argon2Cost.measured(1L << 30);
        assertTrue(cost.memoryKib() >= 64 << 10 && cost.memoryKib() <= 256 << 10, cost.toString());
        assertEquals(new Argon2Cost(256 << 10, 3, 1), Argon2Cost.fitting(16L << 30, 1200));
        assertEquals(new Argon2Cost(256 << 10, 1, 1), Argon2Cost.fitting(1L << 30, 5000));
        assertEquals(new Argon2Cost(128 << 10, 1, 1), Argon2Cost.fitting(512L << 20, 5000));
        assertEquals(new Argon2Cost(64 << 10, 1, 1), Argon2Cost.fitting(16L << 30, 20000));
        assertEquals(new Argon2Cost(64 << 10, 16, 1), Argon2Cost.fitting(128L << 20, 1));
        assertThrows(IllegalArgumentException.class, () -> new Argon2Cost((4 << 20) + 1, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new Argon2Cost(64, 65, 1));
        assertThrows(IllegalArgumentException.class, () -> new Argon2Cost(1024, 1, 17));
        assertThrows(IllegalArgumentException.class, () -> new Argon2Cost(31, 1, 4));
    }

    @Test
    void aCostBeyondTheHeapIsRefusedBeforeMemoryIsAllocated() {
        long heapKib = Runtime.getRuntime().maxMemory() >> 10;
        var cost = new Argon2Cost((int) Math.min(Argon2Cost.MOST_MEMORY_KIB, heapKib), 1, 1);
        if (heapKib <= Argon2Cost.MOST_MEMORY_KIB) {
            IOException refused = assertThrows(IOException.class, () -> cost.derive(new byte[1], new byte[16], 32));
            assertTrue(refused.getMessage().contains("MiB of heap"), refused.getMessage());
        }
    }

    @Test
    void slotsAreAddedChangedAndRemovedAndTheMasterKeyStays() throws IOException {
        KeyHeader first = header("one");
        KeyHeader two = first.withSlot(MASTER, "second", NOW, CHEAP, new Secret(Secret.Kind.KEY_FILE, MASTER.clone()));
        KeyHeader three = KeyHeader.read(
                two.withSlot(MASTER, "", NOW, CHEAP, passphrase("three")).bytes());
        assertEquals(NOW.toEpochMilli() + 2, three.generation(), "one more with each change");
        // What is made later is newer, also if it was made from an older copy, or from none.
        Instant later = NOW.plusSeconds(5);
        assertEquals(
                later.toEpochMilli(),
                first.withSecret(MASTER, 0, later, CHEAP, passphrase("one")).generation());
        assertTrue(later.toEpochMilli() > three.generation());
        assertEquals(
                List.of(0, 1, 2), three.slots().stream().map(KeySlot::number).toList());
        assertEquals(
                1,
                three.open(new Secret(Secret.Kind.KEY_FILE, MASTER.clone()))
                        .slot()
                        .number());
        assertEquals(2, three.open(passphrase("three")).slot().number());

        KeyHeader without = three.withoutSlot(MASTER, 1, NOW);
        KeyHeader again = without.withSlot(MASTER, "again", NOW, CHEAP, passphrase("two"));
        assertEquals("again", again.slot(1).label());
        KeyHeader changed = again.withSecret(MASTER, 0, NOW, CHEAP, passphrase("other"));
        assertEquals("first", changed.slot(0).label());
        assertEquals(KeyException.Reason.WRONG_SECRET, reasonOf(changed, "one"));
        try (KeyHeader.Opened opened = changed.open(passphrase("other"))) {
            assertArrayEquals(MASTER, opened.master());
            assertEquals(VOLUME, opened.keys().volume());
        }
    }

    private static KeyException.Reason reasonOf(KeyHeader header, String passphrase) {
        return assertThrows(KeyException.class, () -> header.open(passphrase(passphrase)))
                .reason();
    }

    @Test
    void theLastSlotStaysAndANinthIsRefused() throws IOException {
        KeyHeader header = header("one");
        assertThrows(IllegalArgumentException.class, () -> header("one").withoutSlot(MASTER, 0, NOW));
        assertThrows(IllegalArgumentException.class, () -> header("one").withoutSlot(MASTER, 1, NOW));
        for (int i = 1; i < KeySlot.MOST; i++) {
            header = header.withSlot(MASTER, "x".repeat(64), NOW, CHEAP, passphrase("more"));
        }
        assertTrue(header.bytes().length <= KeyHeader.MOST_BYTES);
        KeyHeader full = KeyHeader.read(header.bytes());
        assertThrows(IllegalArgumentException.class, () -> full.withSlot(MASTER, "", NOW, CHEAP, passphrase("ninth")));
        assertThrows(
                IllegalArgumentException.class,
                () -> full.withoutSlot(MASTER, 3, NOW)
                        .withSlot(MASTER, "x".repeat(65), NOW, CHEAP, passphrase("long")));
    }

    @Test
    void eachChangedByteIsDamageAndWithARightChecksumAForgery() throws IOException {
        KeyHeader header = header("one").withSlot(MASTER, "b", NOW, CHEAP, passphrase("two"));
        byte[] bytes = header.bytes();
        for (int at = 0; at < bytes.length; at++) {
            byte[] changed = bytes.clone();
            changed[at] ^= 0x10;
            assertEquals(
                    KeyException.Reason.DAMAGED,
                    assertThrows(KeyException.class, () -> KeyHeader.read(changed))
                            .reason());
        }
        int refused = 0;
        for (int at = 0; at < bytes.length - 4; at++) {
            byte[] forged = bytes.clone();
            forged[at] ^= 0x01;
            byte[] checked = ParserSet.withCrc(forged, -4);
            KeyException thrown = assertThrows(
                    KeyException.class, () -> KeyHeader.read(checked).open(passphrase("two")), "byte " + at);
            refused += thrown.reason() == KeyException.Reason.FORGED ? 1 : 0;
        }
        // The others make no header, or a slot that no longer opens. The control: the unchanged one opens.
        assertTrue(refused > 32, "forgeries: " + refused);
        assertEquals(
                1,
                KeyHeader.read(ParserSet.withCrc(bytes.clone(), -4))
                        .open(passphrase("two"))
                        .slot()
                        .number());
    }

    @Test
    void aSlotOfAnotherVolumeOpensNothing() throws IOException {
        KeyHeader other = KeyHeader.create(
                UUID.randomUUID(), AeadCipher.AES_256_GCM, MASTER.clone(), "first", NOW, CHEAP, passphrase("one"));
        byte[] bytes = header("one").bytes().clone();
        System.arraycopy(other.bytes(), 7, bytes, 7, 16);
        assertEquals(KeyException.Reason.WRONG_SECRET, reasonOf(KeyHeader.read(ParserSet.withCrc(bytes, -4)), "one"));
    }

    @Test
    void theFormatIsTheOneOfTheGoldenFile() throws IOException {
        byte[] golden;
        try (InputStream file = KeyHeaderTest.class.getResourceAsStream("keys-v1.bin")) {
            golden = file.readAllBytes();
        }
        KeyHeader header = KeyHeader.read(golden);
        assertEquals(2, header.generation());
        assertEquals(
                List.of("first", "größer"),
                header.slots().stream().map(KeySlot::label).toList());
        assertEquals(NOW, header.slot(1).made());
        assertArrayEquals(MASTER, header.open(passphrase("golden")).master());
        assertArrayEquals(
                MASTER,
                header.open(new Secret(Secret.Kind.COMMAND, "two".getBytes(UTF_8)))
                        .master());
        byte[] later = golden.clone();
        later[4] = 2;
        String message = assertThrows(KeyException.class, () -> KeyHeader.read(ParserSet.withCrc(later, -4)))
                .getMessage();
        assertTrue(message.contains("version 2"), message);
    }

    @Test
    void theCipherFollowsTheInstructionsOfTheProcessor() throws IOException {
        assertEquals(AeadCipher.AES_256_GCM, KeyHeader.cipherFor("processor : 0\nflags\t\t: fpu aes avx\n"));
        assertEquals(AeadCipher.AES_256_GCM, KeyHeader.cipherFor("Features\t: fp asimd aes pmull\n"));
        assertEquals(AeadCipher.AES_256_GCM, KeyHeader.cipherFor("flags: aes"));
        assertEquals(AeadCipher.CHACHA20_POLY1305, KeyHeader.cipherFor("flags\t\t: fpu vaesx noaes\n"));
        assertEquals(AeadCipher.CHACHA20_POLY1305, KeyHeader.cipherFor(""));
        KeyHeader.cipherOfMachine();
    }

    @Test
    void anExportedKeyComesBackAndAWrongDigitIsFoundInItsLine() throws IOException {
        var export = new KeyExport(VOLUME, AeadCipher.CHACHA20_POLY1305, MASTER.clone());
        String text = export.text("pool0", NOW);
        KeyExport read = KeyExport.parse(text);
        assertArrayEquals(MASTER, read.master());
        assertEquals(VOLUME, read.volume());
        assertEquals(AeadCipher.CHACHA20_POLY1305, read.cipher());
        // As somebody types it.
        assertArrayEquals(
                MASTER,
                KeyExport.parse(text.toUpperCase(java.util.Locale.ROOT)
                                .replace("VOLUME  ", "volume ")
                                .replace("CIPHER  CHACHA20-POLY1305", "cipher ChaCha20-Poly1305")
                                .replace("KEY ", "key ")
                                .replace("ABCDEF", "abcdef")
                                .replaceAll("(?m)^(volume .*)$", "volume " + VOLUME))
                        .master());
        assertTrue(assertThrows(IOException.class, () -> KeyExport.parse(text.replace("8899", "8898")))
                .getMessage()
                .contains("'key 2'"));
        assertTrue(assertThrows(IOException.class, () -> KeyExport.parse(text.replaceAll("(?m)^key 3.*$", "")))
                .getMessage()
                .contains("'key 3'"));
        assertThrows(IOException.class, () -> KeyExport.parse(text.replace("ChaCha20-Poly1305", "AES-256-GCM")));
        assertThrows(IOException.class, () -> KeyExport.parse("something else"));
        assertFalse(export.toString().contains("0011"), export.toString());
    }
}
