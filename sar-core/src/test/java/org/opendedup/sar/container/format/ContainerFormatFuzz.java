package org.opendedup.sar.container.format;

import static org.opendedup.sar.fuzz.FuzzInputs.resource;
import static org.opendedup.sar.fuzz.ParserSet.withCrc;

import java.io.IOException;
import java.util.Arrays;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.container.TestCiphers;
import org.opendedup.sar.container.format.ContainerFormat.Footer;
import org.opendedup.sar.container.format.FrameDecoder.Expected;
import org.opendedup.sar.crypt.AeadCipher;
import org.opendedup.sar.fuzz.ParserSet;

/**
 * The parts of a pack and a container: headers, footer, frame table, frames, and compressed payloads with any lengths.
 */
public final class ContainerFormatFuzz {
    private static final long CONTAINER_BYTES = 1 << 20;
    private static final int MOST_RAW_BYTES = 1 << 20;
    private static final byte[] NONE = resource(ContainerFormatFuzz.class, "container-v2-none.bin");
    private static final byte[] ZSTD = resource(ContainerFormatFuzz.class, "container-v2-zstd.bin");
    private static final byte[] LZ4 = resource(ContainerFormatFuzz.class, "container-v2-lz4.bin");
    private static final byte[] REWRITTEN = resource(ContainerFormatFuzz.class, "container-v2-generation2.bin");
    private static final byte[] PACK = resource(ContainerFormatFuzz.class, "pack-v1-container-v2.bin");

    private static final Compressor COMPRESSOR = new Compressor(new Compression(Compression.Codec.ZSTD, 1, 64 << 10));
    private static final byte[] ENCRYPTED = resource(ContainerFormatFuzz.class, "container-v4-aes-256-gcm.bin");
    /** That of {@link #ENCRYPTED}, and of frames that the fuzzer encrypts. */
    private static final ContainerCipher CIPHER =
            ContainerCipher.of(TestCiphers.keys(1, AeadCipher.AES_256_GCM), () -> 1);

    private static final FrameDecoder ENCRYPTED_DECODER = new FrameDecoder(COMPRESSOR, CIPHER);
    private static final FrameDecoder DECODER = new FrameDecoder(COMPRESSOR, ContainerCipher.NONE);

    private static final ParserSet PARSERS = new ParserSet()
            .add("pack header", ContainerFormatFuzz::packHeader, Arrays.copyOf(PACK, 20))
            .add("container header", ContainerFormatFuzz::header, Arrays.copyOf(NONE, 32), Arrays.copyOf(REWRITTEN, 32))
            .add("footer", ContainerFormatFuzz::footer, footerOf(NONE), footerOf(REWRITTEN))
            .add("frame table", ContainerFormatFuzz::table, tableOf(NONE), tableOf(ZSTD), tableOf(REWRITTEN))
            .add("kept frame table", ContainerFormatFuzz::keptTable, kept(tableOf(NONE)), kept(tableOf(REWRITTEN)))
            .add("frame", ContainerFormatFuzz::frame, frameOf(NONE), frameOf(ZSTD), frameOf(LZ4), frameOf(REWRITTEN))
            .add("frame of an encrypted volume", ContainerFormatFuzz::anyEncrypted, frameOf(ENCRYPTED), frameOf(NONE))
            .add("encrypted frame", ContainerFormatFuzz::encrypted, frameOf(NONE), frameOf(ZSTD), frameOf(REWRITTEN))
            .add("payload", ContainerFormatFuzz::payload, payloadOf(NONE), payloadOf(ZSTD), payloadOf(LZ4));

    private ContainerFormatFuzz() {}

    public static ParserSet parsers() {
        return PARSERS;
    }

    public static void fuzzerTestOneInput(byte[] input) {
        PARSERS.parse(input);
    }

    private static void packHeader(byte[] bytes) throws IOException {
        PackFormat.checkHeader(withCrc(Arrays.copyOf(bytes, PackFormat.FIRST_CONTAINER), 16), 1);
    }

    private static void header(byte[] bytes) throws IOException {
        ContainerFormat.readHeader(
                withCrc(Arrays.copyOf(bytes, ContainerFormat.HEADER_BYTES), 28), ContainerCipher.NONE, "a container");
    }

    private static void footer(byte[] bytes) throws IOException {
        byte[] footer = withCrc(Arrays.copyOf(bytes, ContainerFormat.FOOTER_BYTES), 44);
        Footer read = ContainerFormat.readFooter(
                footer, Bytes.getLong(footer, 8), CONTAINER_BYTES, ContainerCipher.NONE, "a container");
        if (read.directoryOffset() + read.directoryBytes() + ContainerFormat.FOOTER_BYTES != CONTAINER_BYTES) {
            throw new AssertionError("a directory that does not end at its footer: " + read);
        }
    }

    private static void table(byte[] bytes) throws IOException {
        again(FrameTable.decode(withCrc(bytes, -4), 7, "a table"));
    }

    private static void keptTable(byte[] bytes) throws IOException {
        if (bytes.length > Long.BYTES) {
            byte[] table = withCrc(Arrays.copyOfRange(bytes, Long.BYTES, bytes.length), -4);
            System.arraycopy(table, 0, bytes, Long.BYTES, table.length);
        }
        again(FrameTable.decodeWithSalt(bytes, "a table"));
    }

    private static void again(FrameTable table) throws IOException {
        byte[] encoded = table.encodeWithSalt();
        if (!Arrays.equals(
                encoded, FrameTable.decodeWithSalt(encoded, "a table").encodeWithSalt())) {
            throw new AssertionError("a table that changes when it is written and read");
        }
        for (int slot = 0; slot < Math.min(table.slots(), 100); slot++) {
            table.frameOf(slot);
        }
    }

    private static void frame(byte[] bytes) throws IOException {
        frame(bytes, DECODER);
    }

    /** A right checksum, and hardly ever a right tag. */
    private static void anyEncrypted(byte[] bytes) throws IOException {
        frame(bytes, ENCRYPTED_DECODER);
    }

    /** Any list and payload, encrypted by a program that has the key. */
    private static void encrypted(byte[] bytes) throws IOException {
        FrameFormat.Header header = FrameFormat.readHeader(bytes, 0, bytes.length);
        if (header == null) {
            return;
        }
        Bytes out = new Bytes(bytes.length + ContainerCipher.TAG_BYTES);
        out.putBytes(bytes, 0, FrameFormat.HEADER_BYTES + header.contentBytes());
        out.array()[6] = ContainerCipher.TAG_BYTES;
        new ContainerWriting(CIPHER, header.identity())
                .encryptFrame(header.firstSlot(), out, 0, FrameFormat.HEADER_BYTES);
        out.putCrc(0);
        frame(out.toArray(), ENCRYPTED_DECODER);
    }

    private static void frame(byte[] bytes, FrameDecoder decoder) throws IOException {
        FrameFormat.Header header = FrameFormat.readHeader(bytes, 0, bytes.length);
        if (header == null) {
            return;
        }
        Bytes.crc(bytes, 0, 4);
        byte[] sound = withCrc(bytes, header.frameBytes() - 4);
        Writing writing = header.identity().writing();
        FrameTable.Builder table = new FrameTable.Builder(writing);
        table.add(header.firstSlot(), header.chunks(), 32, header.frameBytes(), header.rawBytes());
        Expected expected = new Expected(header.identity().container(), new LocatedTable(1, 4096, table.build()), 0);
        Frame frame = decoder.decode(sound, 0, expected, false);
        int sum = 0;
        for (int slot = frame.firstSlot(); slot < frame.firstSlot() + frame.count(); slot++) {
            sum += frame.length(slot);
        }
        if (sum != frame.data().length) {
            throw new AssertionError("chunks of " + sum + " bytes in a frame of " + frame.data().length);
        }
        decoder.decode(sound, 0, expected, true);
    }

    /** The codec, the length before compression (3 bytes), and the payload. */
    private static void payload(byte[] bytes) {
        if (bytes.length < 4) {
            return;
        }
        Compression.Codec[] codecs = Compression.Codec.values();
        Compression.Codec codec = codecs[(bytes[0] & 0xff) % codecs.length];
        int length = (bytes[1] & 0xff) | (bytes[2] & 0xff) << 8 | (bytes[3] & 0xff) << 16;
        byte[] raw = new byte[length % (MOST_RAW_BYTES + 1)];
        COMPRESSOR.decompress(codec, bytes, 4, bytes.length - 4, raw);
    }

    private static byte[] footerOf(byte[] container) {
        byte[] footer = Arrays.copyOfRange(container, container.length - 48, container.length);
        // As if the container had the length of the parser.
        long offset = CONTAINER_BYTES - 48 - Bytes.getInt(footer, 40);
        ParserSet.putInt(footer, 32, (int) offset);
        return footer;
    }

    private static byte[] tableOf(byte[] container) {
        int footer = container.length - 48;
        int offset = (int) Bytes.getLong(container, footer + 32);
        return Arrays.copyOfRange(container, offset, offset + Bytes.getInt(container, footer + 28));
    }

    private static byte[] kept(byte[] table) {
        byte[] kept = new byte[Long.BYTES + table.length];
        System.arraycopy(table, 0, kept, Long.BYTES, table.length);
        return kept;
    }

    private static byte[] frameOf(byte[] container) {
        FrameFormat.Header header = FrameFormat.readHeader(container, 32, container.length);
        if (header == null) {
            throw new AssertionError("the golden container has no first frame");
        }
        return Arrays.copyOfRange(container, 32, 32 + header.frameBytes());
    }

    private static byte[] payloadOf(byte[] container) {
        byte[] frame = frameOf(container);
        int from = 48 + Bytes.getInt(frame, 28);
        int stored = Bytes.getInt(frame, 36);
        int raw = Bytes.getInt(frame, 32);
        byte[] input = new byte[4 + stored];
        input[0] = frame[4];
        input[1] = (byte) raw;
        input[2] = (byte) (raw >>> 8);
        input[3] = (byte) (raw >>> 16);
        System.arraycopy(frame, from, input, 4, stored);
        return input;
    }
}
