package org.opendedup.sar.keys;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.opendedup.sar.fuzz.FuzzInputs.resource;
import static org.opendedup.sar.fuzz.ParserSet.withCrc;

import java.io.IOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.opendedup.sar.crypt.AeadCipher;
import org.opendedup.sar.fuzz.ParserSet;

/** The key header, and an exported master key as a person may type it. */
public final class KeyHeaderFuzz {
    private static final byte[] GOLDEN = resource(KeyHeaderFuzz.class, "keys-v1.bin");

    private static final ParserSet PARSERS = new ParserSet()
            .addDeclaring("key header", List.of(KeyException.class), KeyHeaderFuzz::header, GOLDEN)
            .addDeclaring("exported key", List.of(IOException.class), KeyHeaderFuzz::export, export());

    private KeyHeaderFuzz() {}

    public static ParserSet parsers() {
        return PARSERS;
    }

    public static void fuzzerTestOneInput(byte[] input) {
        PARSERS.parse(input);
    }

    private static void header(byte[] bytes) throws IOException {
        KeyHeader header = KeyHeader.read(bytes.length < 4 ? bytes : withCrc(bytes, -4));
        if (header.slots().isEmpty() || header.slots().size() > KeySlot.MOST) {
            throw new AssertionError("slots: " + header.slots());
        }
    }

    private static byte[] export() {
        var export = new KeyExport(KeyHeaderTest.VOLUME, AeadCipher.AES_256_GCM, KeyHeaderTest.MASTER.clone());
        return export.text("pool0", Instant.EPOCH).getBytes(UTF_8);
    }

    private static void export(byte[] bytes) throws IOException {
        KeyExport read = KeyExport.parse(new String(bytes, UTF_8));
        KeyExport again = KeyExport.parse(read.text("pool0", Instant.EPOCH));
        if (!Arrays.equals(read.master(), again.master()) || !read.volume().equals(again.volume())) {
            throw new AssertionError("another key");
        }
    }
}
