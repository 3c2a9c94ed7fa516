package org.opendedup.sar.volume.stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.crypt.TestKeys;
import org.opendedup.sar.fuzz.FuzzInputs;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.SnapshotIdentity;

/**
 * The format of streams of snapshots. With {@code -Dsar.golden=DIR} the golden files are written to that folder, for a
 * new version.
 */
class StreamFormatTest {
    static final StreamKeys KEYS = new StreamKeys(TestKeys.of(7), "a key header".getBytes(UTF_8));
    private static final String SECRET = "what nobody may read: a name, a target, an attribute, and bytes of a file";
    private static final SnapshotIdentity TARGET =
            new SnapshotIdentity(UUID.fromString("01234567-89ab-cdef-0123-456789abcdef"), 12, 1_764_460_800_000L);
    private static final SnapshotIdentity BASE =
            new SnapshotIdentity(UUID.fromString("fedcba98-7654-3210-fedc-ba9876543210"), 3, 1_764_000_000_000L);
    private static final StreamPoint POINT = new StreamPoint(TARGET, BASE, new StreamPosition(77, 3));

    /** One message of each kind that a sender writes. */
    static List<StreamMessage> messages() {
        StreamPage.Builder page = new StreamPage.Builder();
        Inode link = Inode.of(80, Modes.SYMBOLIC_LINK | 0777, new Inode.Times(4, 3, 2, 1))
                .withTarget(SECRET.getBytes(UTF_8));
        StreamMessage.ChunkList chunks = new StreamMessage.ChunkList(
                new long[] {ChunkId.of(9, 4), ChunkId.of(9, 5), ChunkId.of(2, 0)},
                new int[] {SECRET.length(), 3, 1},
                fingerprints(3));
        return List.of(
                new StreamMessage.Start(
                        POINT, 256 << 10, ContentHash.SHA_256, "daily-1", 9, true, 1000, 123_456_789, 42),
                new StreamMessage.Removed(78),
                new StreamMessage.Changed(link),
                new StreamMessage.Attributes(
                        80,
                        List.of(
                                new StreamMessage.Attribute("user.a".getBytes(UTF_8), SECRET.getBytes(UTF_8)),
                                new StreamMessage.Attribute("user.b".getBytes(UTF_8), new byte[0]),
                                new StreamMessage.Attribute("user.c".getBytes(UTF_8), null))),
                new StreamMessage.Names(
                        81,
                        List.of(
                                new StreamMessage.Name(SECRET.getBytes(UTF_8), 80, Modes.SYMBOLIC_LINK),
                                new StreamMessage.Name("gone".getBytes(UTF_8), 0, 0))),
                new StreamMessage.Offer(chunks),
                new StreamMessage.Chunks(chunks, (SECRET + "1234").getBytes(UTF_8)),
                new StreamMessage.Pages(
                        82,
                        List.of(
                                page.addZeros(100)
                                        .addBase(5_000_000_000L, 4096)
                                        .addChunk(ChunkId.of(9, 4), 0, SECRET.length())
                                        .addChunk(ChunkId.of(9, 5), 1, 2)
                                        .addBase(7, 1)
                                        .build(0),
                                page.build(1),
                                page.addChunk(ChunkId.of(2, 0), 0, 1).build(1_000_000))),
                new StreamMessage.End(1, 2, 3, SECRET.length() + 4));
    }

    private static byte[] fingerprints(int count) {
        byte[] fingerprints = new byte[count * Fingerprints.BYTES];
        new Random(3).nextBytes(fingerprints);
        return fingerprints;
    }

    static byte[] stream(List<StreamMessage> messages, StreamKeys keys) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        byte[] salt = new byte[StreamPreamble.SALT_BYTES];
        Arrays.fill(salt, (byte) 5);
        try (StreamWriter writer = new StreamWriter(bytes, keys, salt)) {
            for (StreamMessage message : messages) {
                writer.write(message);
            }
            writer.flush();
            assertEquals(writer.bytes(), bytes.size());
        }
        return bytes.toByteArray();
    }

    /** Reads a stream up to its end, and returns its messages. */
    static List<StreamMessage> read(byte[] bytes, StreamKeys keys) throws IOException {
        return read(new ByteArrayInputStream(bytes), keys);
    }

    private static List<StreamMessage> read(InputStream in, StreamKeys keys) throws IOException {
        List<StreamMessage> messages = new ArrayList<>();
        try (StreamReader reader = StreamReader.begin(in, "the stream")) {
            if (reader == null) {
                throw new EOFException("no stream");
            }
            if (reader.isSealed() && keys != null) {
                assertArrayEquals(keys.header(), reader.keyHeader());
                reader.unseal(keys.keys());
            }
            do {
                messages.add(reader.read());
            } while (!(messages.get(messages.size() - 1) instanceof StreamMessage.End));
        }
        return messages;
    }

    /** Records with arrays are equal only if they are the same: their bytes tell. */
    private static void assertSame(List<StreamMessage> expected, List<StreamMessage> found) throws IOException {
        assertArrayEquals(stream(expected, null), stream(found, null));
    }

    @Test
    void whatIsWrittenIsReadAgain() throws IOException {
        for (StreamKeys keys : new StreamKeys[] {null, KEYS}) {
            byte[] bytes = stream(messages(), keys);
            assertSame(messages(), read(bytes, keys));
            if (keys != null) {
                assertFalse(Arrays.equals(bytes, stream(messages(), null)));
            }
        }
    }

    @Test
    void theBytesAreThoseOfTheFormat() throws IOException {
        byte[] plain = stream(messages(), null);
        byte[] sealed = stream(messages(), KEYS);
        String target = System.getProperty("sar.golden");
        if (target != null) {
            Files.write(Path.of(target, "stream-v1.bin"), plain);
            Files.write(Path.of(target, "stream-v1-sealed.bin"), sealed);
        }
        byte[] golden = FuzzInputs.resource(StreamFormatTest.class, "stream-v1.bin");
        assertEquals(HexFormat.of().formatHex(golden), HexFormat.of().formatHex(plain));
        byte[] goldenSealed = FuzzInputs.resource(StreamFormatTest.class, "stream-v1-sealed.bin");
        assertEquals(HexFormat.of().formatHex(goldenSealed), HexFormat.of().formatHex(sealed));
        assertSame(messages(), read(golden, null));
        assertSame(messages(), read(goldenSealed, KEYS));
    }

    @Test
    void anotherVersionIsRefused() throws IOException {
        byte[] later = stream(messages(), null);
        later[8] = StreamPreamble.VERSION + 1;
        assertThrows(UnsupportedFormatException.class, () -> read(later, null));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void everyFlippedBitAndEveryTruncationIsNoticed(boolean sealed) throws IOException {
        StreamKeys keys = sealed ? KEYS : null;
        byte[] bytes = stream(messages(), keys);
        for (int bit = 0; bit < bytes.length * Byte.SIZE; bit++) {
            byte[] flipped = bytes.clone();
            flipped[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            assertThrows(IOException.class, () -> read(flipped, keys), "bit " + bit);
        }
        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            assertThrows(IOException.class, () -> read(cut, keys), length + " bytes");
        }
        assertEquals(messages().size(), read(bytes, keys).size(), "the control");
    }

    /** Messages whose checksums are right are noticed at another place: left out, repeated, exchanged. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aMessageAtAnotherPlaceIsNoticed(boolean sealed) throws IOException {
        StreamKeys keys = sealed ? KEYS : null;
        List<byte[]> parts = parts(stream(messages(), keys));
        assertSame(messages(), read(joined(parts), keys));
        for (int i = 1; i + 1 < parts.size(); i++) {
            List<byte[]> without = new ArrayList<>(parts);
            byte[] part = without.remove(i);
            assertThrows(CorruptionException.class, () -> read(joined(without), keys), "without " + i);
            List<byte[]> twice = new ArrayList<>(parts);
            twice.add(i, part);
            assertThrows(CorruptionException.class, () -> read(joined(twice), keys), "twice " + i);
            List<byte[]> exchanged = new ArrayList<>(without);
            exchanged.add(i + 1, part);
            assertThrows(CorruptionException.class, () -> read(joined(exchanged), keys), "exchanged " + i);
        }
    }

    /** The hash of the whole is what notices that the beginning of one stream precedes the rest of another. */
    @Test
    void theHashOfTheWholeIsChecked() throws IOException {
        List<StreamMessage> others = new ArrayList<>(messages());
        others.set(1, new StreamMessage.Removed(79));
        List<byte[]> parts = parts(stream(messages(), null));
        parts.set(2, parts(stream(others, null)).get(2));
        CorruptionException e = assertThrows(CorruptionException.class, () -> read(joined(parts), null));
        assertTrue(e.getMessage().contains("the hash of the whole stream"), e.getMessage());
    }

    /** Returns the preamble and the messages. */
    private static List<byte[]> parts(byte[] bytes) {
        int keyBytes = bytes[10] & 0xff | (bytes[11] & 0xff) << 8;
        int at = 16 + keyBytes + (keyBytes > 0 ? StreamPreamble.SALT_BYTES : 0);
        List<byte[]> parts = new ArrayList<>(List.of(Arrays.copyOf(bytes, at)));
        while (at < bytes.length) {
            int length = StreamWriter.FRAME_BYTES;
            for (int i = 0; i < Integer.BYTES; i++) {
                length += (bytes[at + i] & 0xff) << Byte.SIZE * i;
            }
            parts.add(Arrays.copyOfRange(bytes, at, at + length));
            at += length;
        }
        return parts;
    }

    private static byte[] joined(List<byte[]> parts) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        parts.forEach(bytes::writeBytes);
        return bytes.toByteArray();
    }

    @Test
    void aSealedStreamShowsNothingAndNeedsItsKey() throws IOException {
        byte[] sealed = stream(messages(), KEYS);
        assertEquals(-1, indexOf(sealed, SECRET));
        assertEquals(-1, indexOf(sealed, "daily-1"));
        assertTrue(indexOf(stream(messages(), null), SECRET) > 0, "the control");
        assertThrows(UnsupportedFormatException.class, () -> read(sealed, null));
        StreamKeys wrong = new StreamKeys(TestKeys.of(8), KEYS.header());
        assertThrows(CorruptionException.class, () -> read(sealed, wrong));
    }

    private static int indexOf(byte[] bytes, String text) {
        return new String(bytes, UTF_8).indexOf(text);
    }

    @Test
    void streamsMayFollowOneAnother() throws IOException {
        byte[] first = stream(messages(), null);
        byte[] second = stream(messages(), KEYS);
        InputStream in = new ByteArrayInputStream(joined(List.of(first, second)));
        assertSame(messages(), read(in, null));
        assertSame(messages(), read(in, KEYS));
        assertNull(StreamReader.begin(in, "the stream"));
    }

    @Test
    void answersAreReadAgain() throws IOException {
        List<StreamMessage> answers = List.of(
                new StreamMessage.Greeting(4096, ContentHash.SHA_256, List.of(BASE, TARGET), POINT),
                new StreamMessage.Greeting(4096, ContentHash.MD5, List.of(), null),
                new StreamMessage.Answer(new byte[] {1, 2}),
                new StreamMessage.Refused("no space is left"),
                new StreamMessage.Received(),
                new StreamMessage.End(0, 0, 0, 0));
        List<StreamMessage> found = read(stream(answers, null), null);
        assertEquals(answers.subList(0, 2), found.subList(0, 2));
        StreamMessage.Answer answer = (StreamMessage.Answer) found.get(2);
        assertTrue(answer.lacks(0) && !answer.lacks(1) && answer.lacks(9) && !answer.lacks(8));
        assertEquals(answers.subList(3, 6), found.subList(3, 6));
    }

    @Test
    void chunksThatShrinkAreCompressed() throws IOException {
        byte[] data = new byte[200_000];
        StreamMessage.ChunkList list =
                new StreamMessage.ChunkList(new long[] {1}, new int[] {data.length}, fingerprints(1));
        byte[] bytes = stream(
                List.of(new StreamMessage.Chunks(list, data), new StreamMessage.End(0, 0, 1, data.length)), null);
        assertTrue(bytes.length < 1000, bytes.length + " bytes");
        assertArrayEquals(data, ((StreamMessage.Chunks) read(bytes, null).get(0)).data());
    }

    @Test
    void aPointIsReadFromItsText() {
        assertEquals(POINT, StreamPoint.parse(POINT.toString()));
        StreamPoint whole = new StreamPoint(TARGET, null, StreamPosition.START);
        assertEquals(whole, StreamPoint.parse(whole.toString()));
        for (String wrong :
                List.of("", "a", "a/b/c/d", POINT + "/1", POINT.toString().replace("77", "x"))) {
            assertThrows(IllegalArgumentException.class, () -> StreamPoint.parse(wrong), wrong);
        }
    }

    /** Seeds of the fuzz target: the payloads of all messages. */
    static byte[][] payloads() {
        try (MessageFormat format = new MessageFormat()) {
            return messages().stream().map(format::encode).toArray(byte[][]::new);
        }
    }
}
