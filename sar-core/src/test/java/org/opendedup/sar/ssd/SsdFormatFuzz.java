package org.opendedup.sar.ssd;

import static org.opendedup.sar.fuzz.FuzzInputs.resource;
import static org.opendedup.sar.fuzz.ParserSet.withCrc;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.fuzz.FuzzFolder;
import org.opendedup.sar.fuzz.ParserSet;
import org.opendedup.sar.io.FileDirectory;

/** Segment files, records and the identity of an SSD location. */
public final class SsdFormatFuzz {
    private static final byte[] GOLDEN = resource(SsdFormatFuzz.class, "segment-v3.bin");
    private static final UUID VOLUME = new UUID(
            ByteBuffer.wrap(GOLDEN).order(ByteOrder.LITTLE_ENDIAN).getLong(8),
            ByteBuffer.wrap(GOLDEN).order(ByteOrder.LITTLE_ENDIAN).getLong(16));
    private static final RecordFormat RECORDS = new RecordFormat();
    private static final RecordSeal SEAL = new RecordSeal(5, null);

    private static final ParserSet PARSERS = new ParserSet()
            .addDeclaring("segment file", List.of(IOException.class), SsdFormatFuzz::segment, GOLDEN)
            .add("record", SsdFormatFuzz::record, Arrays.copyOfRange(GOLDEN, SegmentFile.HEADER_BYTES, GOLDEN.length))
            .addDeclaring(
                    "identity",
                    List.of(IOException.class),
                    SsdFormatFuzz::identity,
                    SsdIdentity.text(VOLUME).getBytes(StandardCharsets.US_ASCII));

    private SsdFormatFuzz() {}

    public static ParserSet parsers() {
        return PARSERS;
    }

    public static void fuzzerTestOneInput(byte[] input) {
        PARSERS.parse(input);
    }

    private static void segment(byte[] bytes) throws IOException {
        Path folder = FuzzFolder.emptied();
        int number = bytes.length < 8 ? 0 : (bytes[6] & 0xff) | (bytes[7] & 0xff) << 8;
        Path file = folder.resolve(SegmentFile.name(number));
        Files.createDirectories(file.getParent());
        Files.write(file, withCrc(bytes, 52));
        SegmentFile segment = SegmentFile.open(FileDirectory.open(folder), number, VOLUME, null);
        try {
            new SegmentScanner().scan(segment, entry -> {
                if (entry.offset < 0 || entry.length <= 0 || entry.offset + entry.length > bytes.length) {
                    throw new AssertionError("a record from " + entry.offset + ", " + entry.length + " bytes long");
                }
            });
        } finally {
            segment.leave();
        }
    }

    private static void record(byte[] bytes) {
        byte[] record = Arrays.copyOf(bytes, Math.max(bytes.length, RecordHeader.BYTES));
        int length = SEAL.lengthAt(record, 0, record.length);
        if (length == 0) {
            return;
        }
        SEAL.complete(record, 0, 0, 3);
        long chunk = RecordHeader.chunkIdAt(record, 0);
        if (!SEAL.isSound(record, 0, length, chunk)) {
            throw new AssertionError("a record is not sound after its checksum was computed");
        }
        int prefix = Fingerprints.fingerprintPrefix(record, 24);
        byte[] data = RECORDS.decode(record, 0, length, SEAL, 0, chunk, prefix, 1);
        if (data != null && data.length > RecordHeader.MAX_CHUNK_BYTES) {
            throw new AssertionError("a chunk of " + data.length + " bytes");
        }
    }

    private static void identity(byte[] bytes) throws IOException {
        Path folder = FuzzFolder.emptied();
        Files.write(folder.resolve(LocationFiles.IDENTITY), bytes);
        SsdIdentity.claim(folder, VOLUME);
    }
}
