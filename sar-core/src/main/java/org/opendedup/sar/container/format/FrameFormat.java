package org.opendedup.sar.container.format;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;

/**
 * The frame, as docs/FORMAT.md specifies it: its header, and how it is encoded. {@link FrameDecoder} reads it back.
 *
 * <pre>
 * frame      = magic:u32 codec:u8 flags:u8 tag-length:u16 container:u64 generation:u32 first-slot:u32 chunks:u32
 *              list-length:u32 raw-length:u32 stored-length:u32 salt:u64 chunk-list payload
 *              ( tag:16 bytes key-salt:u64 )? crc:u32          in an encrypted volume; see {@link ContainerCipher}
 * chunk-list = ( entry:varint fingerprint:32 bytes | zero:varint )*      see {@link ChunkEntry}; zero: a removed chunk
 * </pre>
 */
public final class FrameFormat {
    public static final int HEADER_BYTES = 48;
    public static final int CRC_BYTES = Integer.BYTES;
    /**
     * Largest number of chunk bytes in a frame. A greater length is damage, and is refused before memory is allocated
     * for it.
     */
    public static final int MAX_RAW_BYTES = 16 << 20;
    /** Longest chunk list, in bytes: a length of at most four bytes and a fingerprint for every slot. */
    static final int MAX_LIST_BYTES = ChunkId.MAX_SLOTS * (4 + Fingerprints.BYTES);

    public static final int MAX_FRAME_BYTES =
            HEADER_BYTES + MAX_LIST_BYTES + MAX_RAW_BYTES + ContainerCipher.TAG_BYTES + CRC_BYTES;

    /** {@code SARF}, as these bytes appear in the file. */
    private static final int MAGIC = 0x46524153;

    private static final Compression.Codec[] CODECS = Compression.Codec.values();

    private FrameFormat() {}

    /**
     * A frame's header. Its lengths are within the limits, and their sum fits the frame.
     *
     * @param tagBytes bytes after the payload that an encrypted frame has
     */
    public record Header(
            Compression.Codec codec,
            int tagBytes,
            ContainerIdentity identity,
            int firstSlot,
            int chunks,
            int listBytes,
            int rawBytes,
            int storedBytes) {

        public int frameBytes() {
            return HEADER_BYTES + contentBytes() + tagBytes + CRC_BYTES;
        }

        /** Returns the bytes of list and payload. */
        public int contentBytes() {
            return listBytes + storedBytes;
        }

        public boolean isEncrypted() {
            return tagBytes > 0;
        }
    }

    /** Returns the maximum size in bytes of the chunk list of a raw frame. */
    static int listBound(int chunks) {
        return chunks * (5 + Fingerprints.BYTES);
    }

    /**
     * Clears {@code out} and encodes a frame into it; returns whether it is compressed, because that makes it smaller.
     */
    public static boolean encode(RawFrame frame, ContainerWriting writing, Compressor compressor, Bytes out) {
        Compression.Codec codec = putContent(frame, compressor, out);
        complete(frame, writing, codec, out);
        return codec != Compression.Codec.NONE;
    }

    /** As {@link #encode}, without a trial of compressing. */
    public static void encodeRaw(RawFrame frame, ContainerWriting writing, Bytes out) {
        putList(frame, frame.bytes(), out);
        out.putBytes(frame.data(), 0, frame.bytes());
        complete(frame, writing, Compression.Codec.NONE, out);
    }

    /**
     * Clears {@code out} and puts chunk list and payload after room for the header; returns how the payload is
     * compressed.
     */
    static Compression.Codec putContent(RawFrame frame, Compressor compressor, Bytes out) {
        putList(frame, compressor.bound(frame.bytes()), out);
        int compressed =
                frame.bytes() == 0 ? 0 : compressor.compress(frame.data(), frame.bytes(), out.array(), out.length());
        if (compressed == 0) {
            out.putBytes(frame.data(), 0, frame.bytes());
            return Compression.Codec.NONE;
        }
        out.advance(compressed);
        return compressor.codec();
    }

    /** Clears {@code out} and puts the chunk list after room for the header. */
    private static void putList(RawFrame frame, int payloadBound, Bytes out) {
        out.clear();
        out.reserve(HEADER_BYTES + listBound(frame.count()) + payloadBound + ContainerCipher.TAG_BYTES + CRC_BYTES);
        out.advance(HEADER_BYTES);
        frame.putList(out);
    }

    /**
     * Puts the header before chunk list and payload, encrypts them in an encrypted volume, and puts the checksum after
     * them.
     */
    static void complete(RawFrame frame, ContainerWriting writing, Compression.Codec codec, Bytes out) {
        int contentEnd = out.length();
        int listBytes = frame.listBytes();
        out.clear();
        putHeader(
                new Header(
                        codec,
                        writing.tagBytes(),
                        writing.identity(),
                        frame.firstSlot(),
                        frame.count(),
                        listBytes,
                        frame.bytes(),
                        contentEnd - HEADER_BYTES - listBytes),
                out);
        out.advance(contentEnd - HEADER_BYTES);
        writing.encryptFrame(frame.firstSlot(), out, 0, HEADER_BYTES);
        out.putCrc(0);
    }

    /** Returns the length that {@link #complete} gives a frame of which {@link #putContent} left its content. */
    static int completeBytes(Bytes content, ContainerWriting writing) {
        return content.length() + writing.tagBytes() + CRC_BYTES;
    }

    private static void putHeader(Header header, Bytes out) {
        int start = out.length();
        out.putInt(MAGIC);
        out.putByte(header.codec().code());
        out.putByte(0);
        out.putShort(header.tagBytes());
        out.putLong(header.identity().container());
        out.putInt(header.identity().generation());
        out.putInt(header.firstSlot());
        out.putInt(header.chunks());
        out.putInt(header.listBytes());
        out.putInt(header.rawBytes());
        out.putInt(header.storedBytes());
        out.putLong(header.identity().salt());
        assert out.length() - start == HEADER_BYTES;
    }

    /**
     * Clears {@code out} and puts a frame of another writing of its container, with the same chunk list and payload.
     *
     * @param content where in {@code source} list and payload begin
     * @param header the frame's header in its present writing
     */
    static void copy(byte[] source, int content, Header header, ContainerWriting writing, Bytes out) {
        out.clear();
        putHeader(
                new Header(
                        header.codec(),
                        writing.tagBytes(),
                        writing.identity(),
                        header.firstSlot(),
                        header.chunks(),
                        header.listBytes(),
                        header.rawBytes(),
                        header.storedBytes()),
                out);
        out.putBytes(source, content, header.contentBytes());
        writing.encryptFrame(header.firstSlot(), out, 0, HEADER_BYTES);
        out.putCrc(0);
    }

    /** Returns whether the bytes at {@code offset} are the magic number with which a frame begins. */
    public static boolean magicAt(byte[] bytes, int offset) {
        return Bytes.getInt(bytes, offset) == MAGIC;
    }

    /**
     * Returns the header of the whole frame that begins at {@code offset} and ends at {@code limit} or earlier, or null
     * if there is none.
     */
    public static @Nullable Header readHeader(byte[] bytes, int offset, int limit) {
        if (limit - offset < HEADER_BYTES + CRC_BYTES || !magicAt(bytes, offset)) {
            return null;
        }
        int codec = bytes[offset + 4];
        int tagBytes = Bytes.getShort(bytes, offset + 6);
        int firstSlot = Bytes.getInt(bytes, offset + 20);
        int chunks = Bytes.getInt(bytes, offset + 24);
        int listBytes = Bytes.getInt(bytes, offset + 28);
        int rawBytes = Bytes.getInt(bytes, offset + 32);
        int storedBytes = Bytes.getInt(bytes, offset + 36);
        boolean valid = codec >= 0
                && codec < CODECS.length
                && bytes[offset + 5] == 0
                && (tagBytes == 0 || tagBytes == ContainerCipher.TAG_BYTES)
                && within(chunks, ChunkId.MAX_SLOTS)
                && firstSlot >= 0
                && firstSlot <= ChunkId.MAX_SLOTS - chunks
                && within(listBytes, MAX_LIST_BYTES)
                && (within(rawBytes, MAX_RAW_BYTES) && within(storedBytes, MAX_RAW_BYTES)
                        || rawBytes == 0 && storedBytes == 0 && CODECS[codec] == Compression.Codec.NONE)
                && HEADER_BYTES + listBytes + storedBytes + tagBytes + CRC_BYTES <= limit - offset;
        if (!valid) {
            return null;
        }
        ContainerIdentity identity = new ContainerIdentity(
                Bytes.getLong(bytes, offset + 8), Bytes.getLong(bytes, offset + 40), Bytes.getInt(bytes, offset + 16));
        return new Header(CODECS[codec], tagBytes, identity, firstSlot, chunks, listBytes, rawBytes, storedBytes);
    }

    private static boolean within(int value, int max) {
        return value > 0 && value <= max;
    }

    /** Returns whether the checksum of the frame that begins at {@code offset} holds. */
    public static boolean crcHolds(byte[] bytes, int offset, Header header) {
        int count = header.frameBytes() - CRC_BYTES;
        return Bytes.getInt(bytes, offset + count) == Bytes.crc(bytes, offset, count);
    }
}
