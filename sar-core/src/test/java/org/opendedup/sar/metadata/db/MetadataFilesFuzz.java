package org.opendedup.sar.metadata.db;

import static org.opendedup.sar.fuzz.ParserSet.withCrc;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.opendedup.sar.fuzz.FuzzFolder;
import org.opendedup.sar.fuzz.ParserSet;

/** Files next to the metadata's tables: RocksDB's log and manifest as LogTail reads them, and the project's own. */
public final class MetadataFilesFuzz {
    private static final String MANIFEST = "MANIFEST-000005";

    private static final ParserSet PARSERS = new ParserSet()
            .addDeclaring("log", List.of(IOException.class), MetadataFilesFuzz::log, log(false), log(true))
            .addDeclaring("manifest", List.of(IOException.class), MetadataFilesFuzz::manifest, log(false))
            .add("MANIFEST_SYNCED", MetadataFilesFuzz::syncedManifest, line("SARM 1 " + MANIFEST + " 0"))
            .addDeclaring(
                    "ACKNOWLEDGED",
                    List.of(IOException.class),
                    MetadataFilesFuzz::acknowledged,
                    withCrc(ParserSet.unhex("5341524101000000090000000000000000000000"), 16));

    private MetadataFilesFuzz() {}

    public static ParserSet parsers() {
        return PARSERS;
    }

    public static void fuzzerTestOneInput(byte[] input) {
        PARSERS.parse(input);
    }

    private static void log(byte[] bytes) throws IOException {
        Path folder = FuzzFolder.emptied();
        Files.writeString(folder.resolve("CURRENT"), MANIFEST + "\n");
        Files.write(folder.resolve(MANIFEST), new byte[0]);
        Files.write(folder.resolve("000007.log"), withLogChecksums(bytes));
        LogTail.ofLogs(folder, LogTail.ofManifest(folder)).intactBytes();
    }

    private static void manifest(byte[] bytes) throws IOException {
        Path folder = FuzzFolder.emptied();
        Files.writeString(folder.resolve("CURRENT"), MANIFEST + "\n");
        Files.write(folder.resolve(MANIFEST), withLogChecksums(bytes));
        long intact = LogTail.ofManifest(folder).intactBytes();
        if (intact < 0 || intact > bytes.length) {
            throw new AssertionError(intact + " of " + bytes.length + " bytes are intact");
        }
    }

    private static void syncedManifest(byte[] bytes) throws IOException {
        Path folder = FuzzFolder.emptied();
        Files.writeString(folder.resolve("CURRENT"), MANIFEST + "\n");
        Files.write(folder.resolve("MANIFEST_SYNCED"), bytes);
        SyncedManifest.requireIn(folder, 100);
        // What no checksum protects is tried too.
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        int end = text.lastIndexOf(' ');
        Files.write(folder.resolve("MANIFEST_SYNCED"), line(end < 0 ? text : text.substring(0, end)));
        SyncedManifest.requireIn(folder, 100);
    }

    private static void acknowledged(byte[] bytes) throws IOException {
        Path folder = FuzzFolder.emptied();
        Files.write(folder.resolve("ACKNOWLEDGED"), withCrc(bytes, 16));
        try (AcknowledgedSequence sequence = AcknowledgedSequence.open(folder, false)) {
            sequence.requireIn(100, "a database", "damage");
        }
    }

    private static byte[] line(String line) {
        byte[] bytes = line.getBytes(StandardCharsets.ISO_8859_1);
        String crc = String.format(Locale.ROOT, " %08x\n", ParserSet.crc(bytes, bytes.length));
        return (line + crc).getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Two records of a log: sequence 1 and 2, one change each, with the checksums that {@link #log} puts in. */
    private static byte[] log(boolean torn) {
        byte[] record = ParserSet.unhex("00000000" + "1000" + "01" + "0100000000000000" + "01000000" + "01020304");
        byte[] bytes = new byte[2 * record.length - (torn ? 5 : 0)];
        System.arraycopy(record, 0, bytes, 0, record.length);
        System.arraycopy(record, 0, bytes, record.length, bytes.length - record.length);
        if (bytes.length > record.length + 7) {
            bytes[record.length + 7] = 2;
        }
        return bytes;
    }

    /** Returns the bytes with the right masked checksum in each fragment that they seem to have. */
    private static byte[] withLogChecksums(byte[] bytes) {
        byte[] result = bytes.clone();
        int at = 0;
        while (at + 7 <= result.length) {
            int length = (result[at + 4] & 0xff) | (result[at + 5] & 0xff) << 8;
            if (at + 7 + length > result.length) {
                break;
            }
            byte[] covered = java.util.Arrays.copyOfRange(result, at + 6, at + 7 + length);
            int crc = ParserSet.crc(covered, covered.length);
            ParserSet.putInt(result, at, Integer.rotateRight(crc, 15) + 0xa282ead8);
            at += 7 + length;
        }
        return result;
    }
}
