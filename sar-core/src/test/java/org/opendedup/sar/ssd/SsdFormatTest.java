package org.opendedup.sar.ssd;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Random;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.ContentHasher;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.crypt.Purpose;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.FileDirectory;

/**
 * The formats of the SSD location. With {@code -Dsar.golden=DIR} the golden file is written to that folder, for a new
 * version of the format; that of an old version never changes.
 */
@ParameterizedClass
@ValueSource(booleans = {false, true})
final class SsdFormatTest {
    private static final int NUMBER = 513;
    private static final long SALT = 0x1122334455667788L;

    @TempDir
    Path folder;

    private final String golden;
    private final @Nullable VolumeKeys keys;
    private final RecordSeal seal;

    @AutoClose
    private final RecordFormat format;

    SsdFormatTest(boolean isSealed) {
        golden = isSealed ? "segment-v4.bin" : "segment-v3.bin";
        keys = isSealed ? SsdFixture.KEYS : null;
        format = new RecordFormat(ContentHash.SHA_256, keys);
        seal = seal(SALT);
    }

    private RecordSeal seal(long salt) {
        byte[] context = Arrays.copyOf(header(SsdFixture.TIMELINE.current(), salt), 52);
        return new RecordSeal(salt, keys == null ? null : keys.sealer(Purpose.SSD, context));
    }

    private byte[] header(Epoch epoch, long salt) {
        return SegmentFile.header(NUMBER, epoch, salt, keys != null).array();
    }

    /** Chunk 1 is stored uncompressed, chunk 2 compressed. */
    private static byte[] content(int chunk) {
        byte[] bytes = new byte[chunk == 1 ? 301 : 5000];
        new Random(20261121).nextBytes(bytes);
        if (chunk == 2) {
            Arrays.fill(bytes, 100, bytes.length, (byte) 'x');
        }
        return bytes;
    }

    private byte[] record(long chunkId, byte[] bytes, long offset) {
        byte[] target = new byte[format.bound(bytes.length)];
        int length = format.encode(chunkId, SsdFixture.fingerprintPrefix(bytes), bytes, 0, bytes.length, target, 0);
        seal.complete(target, 0, offset, (int) (40_000 + chunkId));
        return Arrays.copyOf(target, length);
    }

    private byte[] segment() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(header(SsdFixture.TIMELINE.current(), SALT));
        for (int chunk = 1; chunk <= 2; chunk++) {
            out.write(record(chunk, content(chunk), out.size()));
        }
        return out.toByteArray();
    }

    private byte[] golden() throws IOException {
        String target = System.getProperty("sar.golden");
        if (target != null) {
            Files.write(Path.of(target, golden), segment());
        }
        try (InputStream in = getClass().getResourceAsStream(golden)) {
            return Objects.requireNonNull(in, golden).readAllBytes();
        }
    }

    private SegmentFile open(byte[] file) throws IOException {
        Files.write(folder.resolve(SegmentFile.name(NUMBER)), file);
        return SegmentFile.open(FileDirectory.open(folder), NUMBER, SsdFixture.VOLUME, keys);
    }

    @Test
    void aSegmentOfThisVersionIsReadByEveryLaterProgram() throws IOException {
        byte[] file = golden();
        SegmentFile segment = open(file);
        assertEquals(SALT, segment.seal().salt());
        assertEquals(SsdFixture.TIMELINE.current(), segment.epoch());
        List<Long> found = new ArrayList<>();
        new SegmentScanner().scan(segment, entry -> {
            byte[] expected = content((int) entry.chunkId);
            byte[] data = format.decode(
                    file,
                    entry.offset,
                    entry.length,
                    segment.seal(),
                    entry.offset,
                    entry.chunkId,
                    SsdFixture.fingerprintPrefix(expected),
                    expected.length);
            assertArrayEquals(expected, data);
            assertEquals(40_000 + entry.chunkId, entry.saving);
            found.add(entry.chunkId);
        });
        assertEquals(List.of(1L, 2L), found);
        segment.leave();
    }

    @Test
    void headerAndUncompressedRecordNeverChange() throws IOException {
        int length = SegmentFile.HEADER_BYTES + record(1, content(1), SegmentFile.HEADER_BYTES).length;
        assertArrayEquals(Arrays.copyOf(golden(), length), Arrays.copyOf(segment(), length));
    }

    @Test
    void identityAndMapDatabaseValuesNeverChange() {
        assertEquals(
                "SAR-SSD 1 01234567-89ab-cdef-0fed-cba987654321 ",
                SsdIdentity.text(SsdFixture.VOLUME).substring(0, 47));
        assertEquals(56, SsdIdentity.text(SsdFixture.VOLUME).length());
        MapEntry entry = new MapEntry();
        entry.chunkId = 9;
        entry.segment = 0xfedc;
        entry.offset = 0x0123_4560;
        entry.length = 0x0007_fff8;
        entry.count = 70_000;
        entry.saving = 0x1234;
        ByteBuffer value = ByteBuffer.allocate(MapDatabase.VALUE_BYTES);
        MapDatabase.encode(entry, value);
        assertEquals("01fedc012345600007fff8ffff1234", HexFormat.of().formatHex(value.array()));
    }

    @Test
    void aRecordWithAnyByteChangedIsRefused() {
        for (int chunk = 1; chunk <= 2; chunk++) {
            byte[] content = content(chunk);
            byte[] record = record(chunk, content, 800);
            int fingerprintPrefix = SsdFixture.fingerprintPrefix(content);
            for (int i = 0; i < record.length; i++) {
                for (int bit = 0; bit < 8; bit += 7) {
                    record[i] ^= (byte) (1 << bit);
                    assertNull(
                            format.decode(record, 0, record.length, seal, 800, chunk, fingerprintPrefix, 1),
                            "byte " + i + " changed");
                    record[i] ^= (byte) (1 << bit);
                }
            }
            // The control: the unchanged file is accepted.
            assertNotNull(format.decode(record, 0, record.length, seal, 800, chunk, fingerprintPrefix, 1));
        }
    }

    @Test
    void aRecordIsOneFilesOneChunksAndAsLongAsWanted() {
        byte[] content = content(1);
        byte[] record = record(1, content, 800);
        int length = record.length;
        int fingerprintPrefix = SsdFixture.fingerprintPrefix(content);
        assertNotNull(format.decode(record, 0, length, seal, 800, 1, fingerprintPrefix, content.length));
        assertNull(format.decode(record, 0, length, seal(SALT + 1), 800, 1, fingerprintPrefix, 1), "of another file");
        assertNull(format.decode(record, 0, length, seal, 800, 2, fingerprintPrefix, 1), "of another chunk");
        assertNull(format.decode(record, 0, length, seal, 800, 1, fingerprintPrefix + 1, 1), "of other bytes");
        assertNull(format.decode(record, 0, length, seal, 800, 1, fingerprintPrefix, content.length + 1), "too short");
        assertEquals(
                keys == null,
                format.decode(record, 0, length, seal, 808, 1, fingerprintPrefix, 1) != null,
                "of another place: a copy is not encrypted for one unless all are");
        assertNull(format.decode(record, 0, length - 8, seal, 800, 1, fingerprintPrefix, 1), "cut off");
    }

    @Test
    void aSegmentFileWithAnyByteOfItsHeaderChangedIsRefused() throws IOException {
        byte[] file = golden();
        for (int i = 0; i < SegmentFile.HEADER_BYTES; i++) {
            file[i] ^= 1;
            assertThrows(CorruptionException.class, () -> open(file));
            file[i] ^= 1;
        }
        assertThrows(CorruptionException.class, () -> open(Arrays.copyOf(file, SegmentFile.HEADER_BYTES - 1)));
        open(file).leave();
        byte[] others = header(new Epoch(UUID.randomUUID(), 1, 1), SALT);
        assertThrows(CorruptionException.class, () -> open(others));
        for (byte version : new byte[] {2, 5}) {
            byte[] other = header(SsdFixture.TIMELINE.current(), SALT);
            other[4] = version;
            CRC32C crc = new CRC32C();
            crc.update(other, 0, SegmentFile.HEADER_BYTES - Integer.BYTES);
            ByteBuffer.wrap(other).order(ByteOrder.LITTLE_ENDIAN).putInt(SegmentFile.HEADER_BYTES - Integer.BYTES, (int)
                    crc.getValue());
            assertThrows(UnsupportedFormatException.class, () -> open(other));
        }
    }

    /** Otherwise whoever writes to the disk could add copies of their own. */
    @Test
    void aFileThatIsEncryptedOnlyIfTheVolumeIsNotIsRefused() {
        byte[] other = SegmentFile.header(NUMBER, SsdFixture.TIMELINE.current(), SALT, keys == null)
                .array();
        assertThrows(CorruptionException.class, () -> open(other));
    }

    /** With a checksum that is right, which anybody can compute, only the tag is left. */
    @Test
    void aChangedRecordWithARightChecksumIsRefusedIfItIsEncrypted() {
        byte[] content = content(1);
        byte[] record = record(1, content, 800);
        int end = 56 + content.length + (keys == null ? 0 : 16);
        RecordSeal forger = new RecordSeal(SALT, null);
        int taken = 0;
        for (int at = 4; at < end; at += 3) {
            byte[] forged = record.clone();
            forged[at] ^= 1;
            CRC32C crc = new CRC32C();
            crc.update(ByteBuffer.allocate(Long.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(forger.salt())
                    .flip());
            crc.update(forged, 0, end);
            RecordHeader.putCrc(forged, end, (int) crc.getValue());
            byte[] data =
                    format.decode(forged, 0, forged.length, seal, 800, 1, SsdFixture.fingerprintPrefix(content), 1);
            taken += data == null ? 0 : 1;
        }
        // The control: without encryption most changes of content pass, until its fingerprint is asked.
        assertEquals(keys == null, taken > 50, taken + " taken");
        assertTrue(keys == null || taken == 0, taken + " taken");
    }

    @Test
    void anEncryptedRecordShowsNeitherContentNorFingerprint() throws IOException {
        byte[] content = content(1);
        String file = HexFormat.of().formatHex(segment());
        byte[] fingerprint = new byte[Fingerprints.BYTES];
        new ContentHasher().fingerprint(ContentHash.SHA_256, content, 0, content.length, fingerprint, 0);
        assertEquals(keys == null, file.contains(HexFormat.of().formatHex(content, 100, 108)));
        assertEquals(keys == null, file.contains(HexFormat.of().formatHex(fingerprint, 0, 8)));
    }

    @Test
    void aSegmentThatIsDeletedStaysReadableForThoseWhoHaveIt() throws IOException {
        SegmentFile segment = open(golden());
        assertTrue(segment.enter());
        Files.delete(folder.resolve(SegmentFile.name(NUMBER)));
        segment.leave();
        byte[] bytes = new byte[4];
        segment.read(0, bytes, 4);
        assertEquals("SARS", new String(bytes, java.nio.charset.StandardCharsets.US_ASCII));
        segment.leave();
        assertFalse(segment.enter());
    }

    @Test
    void fileNamesLeadBackToNumbers() {
        assertEquals(OptionalInt.of(7), SegmentFile.numberOf(SegmentFile.name(7)));
        assertEquals(OptionalInt.of(65535), SegmentFile.numberOf(SegmentFile.name(65535)));
        assertEquals(OptionalInt.empty(), SegmentFile.numberOf("65536.segment"));
        assertEquals(OptionalInt.empty(), SegmentFile.numberOf("00007.segment.old"));
    }
}
