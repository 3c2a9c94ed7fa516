package org.opendedup.sar.container.format;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;

/**
 * The frame, as docs/FORMAT.md specifies it: its header, and how it is encoded. {@link FrameDecoder} reads it back.
 *
 * <pre>
 * frame      = magic:u32 codec:u8 flags:u8 tag-length:u16 container:u64 generation:u32 first-slot:u32 chunks:u32
 *              list-length:u32 raw-length:u32 stored-length:u32 salt:u64 chunk-list tag payload crc:u32
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

    public static final int MAX_FRAME_BYTES = HEADER_BYTES + MAX_LIST_BYTES + MAX_RAW_BYTES + CRC_BYTES;

    /** {@code SARF}, as these bytes appear in the file. */
    private static final int MAGIC = 0x46524153;

    private static final Compression.Codec[] CODECS = Compression.Codec.values();

    private FrameFormat() {}

    /** A frame's header. Its lengths are within the limits, and their sum fits the frame. */
    public record Header(
            Compression.Codec codec,
            ContainerIdentity identity,
            int firstSlot,
            int chunks,
            int listBytes,
            int rawBytes,
            int storedBytes) {

        public int frameBytes() {
            return HEADER_BYTES + listBytes + storedBytes + CRC_BYTES;
        }
    }

    /** Returns the maximum size in bytes of the chunk list of a raw frame. */
    static int listBound(int chunks) {
        return chunks * (5 + Fingerprints.BYTES);
    }

    /**
     * Clears {@code out} and encodes a frame into it; returns whether it is compressed, because that makes it smaller.
     */
    public static boolean encode(RawFrame frame, ContainerIdentity identity, Compressor compressor, Bytes out) {
        int listEnd = putList(frame, compressor.bound(frame.bytes()), out);
        int compressed =
                frame.bytes() == 0 ? 0 : compressor.compress(frame.data(), frame.bytes(), out.array(), listEnd);
        if (compressed == 0) {
            out.putBytes(frame.data(), 0, frame.bytes());
        } else {
            out.advance(compressed);
        }
        complete(frame, identity, compressed == 0 ? Compression.Codec.NONE : compressor.codec(), listEnd, out);
        return compressed != 0;
    }

    /** As {@link #encode}, without a trial of compressing. */
    public static void encodeRaw(RawFrame frame, ContainerIdentity identity, Bytes out) {
        int listEnd = putList(frame, frame.bytes(), out);
        out.putBytes(frame.data(), 0, frame.bytes());
        complete(frame, identity, Compression.Codec.NONE, listEnd, out);
    }

    /** Clears {@code out} and puts the chunk list after room for the header; returns where it ends. */
    private static int putList(RawFrame frame, int payloadBound, Bytes out) {
        out.clear();
        out.reserve(HEADER_BYTES + listBound(frame.count()) + payloadBound + CRC_BYTES);
        out.advance(HEADER_BYTES);
        for (int chunk = 0; chunk < frame.count(); chunk++) {
            out.putVarint(frame.entry(chunk));
            if (ChunkEntry.hasFingerprint(frame.entry(chunk))) {
                out.putBytes(frame.fingerprints(), chunk * Fingerprints.BYTES, Fingerprints.BYTES);
            }
        }
        return out.length();
    }

    /** Puts the header before the chunk list and the payload, and the checksum after them. */
    private static void complete(
            RawFrame frame, ContainerIdentity identity, Compression.Codec codec, int listEnd, Bytes out) {
        int frameEnd = out.length();
        out.clear();
        putHeader(
                new Header(
                        codec,
                        identity,
                        frame.firstSlot(),
                        frame.count(),
                        listEnd - HEADER_BYTES,
                        frame.bytes(),
                        frameEnd - listEnd),
                out);
        out.advance(frameEnd - HEADER_BYTES);
        out.putCrc(0);
    }

    private static void putHeader(Header header, Bytes out) {
        int start = out.length();
        out.putInt(MAGIC);
        out.putByte(header.codec().code());
        out.putByte(0);
        out.putShort(0);
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
     * Copies an encoded frame for another writing of its container, after the bytes of {@code out}: the header names
     * that writing, and the checksum follows; chunk list and payload stay.
     */
    static void copy(byte[] source, int offset, Header header, ContainerIdentity identity, Bytes out) {
        int start = out.length();
        putHeader(
                new Header(
                        header.codec(),
                        identity,
                        header.firstSlot(),
                        header.chunks(),
                        header.listBytes(),
                        header.rawBytes(),
                        header.storedBytes()),
                out);
        out.putBytes(source, offset + HEADER_BYTES, header.listBytes() + header.storedBytes());
        out.putCrc(start);
    }

    /** Returns the size in bytes of the chunk list of an encoded frame. */
    public static int listBytes(byte[] frame) {
        return Bytes.getInt(frame, 28);
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
        int firstSlot = Bytes.getInt(bytes, offset + 20);
        int chunks = Bytes.getInt(bytes, offset + 24);
        int listBytes = Bytes.getInt(bytes, offset + 28);
        int rawBytes = Bytes.getInt(bytes, offset + 32);
        int storedBytes = Bytes.getInt(bytes, offset + 36);
        boolean valid = codec >= 0
                && codec < CODECS.length
                && bytes[offset + 5] == 0
                && Bytes.getShort(bytes, offset + 6) == 0
                && within(chunks, ChunkId.MAX_SLOTS)
                && firstSlot >= 0
                && firstSlot <= ChunkId.MAX_SLOTS - chunks
                && within(listBytes, MAX_LIST_BYTES)
                && (within(rawBytes, MAX_RAW_BYTES) && within(storedBytes, MAX_RAW_BYTES)
                        || rawBytes == 0 && storedBytes == 0 && CODECS[codec] == Compression.Codec.NONE)
                && HEADER_BYTES + listBytes + storedBytes + CRC_BYTES <= limit - offset;
        if (!valid) {
            return null;
        }
        ContainerIdentity identity = new ContainerIdentity(
                Bytes.getLong(bytes, offset + 8), Bytes.getLong(bytes, offset + 40), Bytes.getInt(bytes, offset + 16));
        return new Header(CODECS[codec], identity, firstSlot, chunks, listBytes, rawBytes, storedBytes);
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
