package org.opendedup.sar.ssd;

import java.io.Closeable;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.ContentHasher;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.Compressor;

/**
 * Format of a record of the SSD log: one chunk, which describes itself (docs/FORMAT.md, "SSD location"). Little-endian.
 *
 * <pre>
 * record = "SARR" version:u8 codec:u8 saving:u16 chunk-id:u64 raw-length:u32 stored-length:u32
 *          fingerprint:32 payload crc:u32 padding
 * </pre>
 *
 * <p>The crc covers the salt of the segment file and all bytes of the record up to the crc. So data of a user that look
 * like a record, or a record left from an older file of the same number, are never mistaken for a record of this file.
 *
 * <p>Compression is zstd, level 1, because SSD space is scarce. It reduced 4 KiB chunks of a Linux root file system to
 * 0.42 of their bytes, LZ4 to 0.53; decoding needs 6 µs instead of 2. For 16 KiB chunks it is 0.40 and 0.50, 13 µs and
 * 4.
 *
 * <p>Decoding is safe for use by many threads; encoding is for one.
 */
class RecordFormat implements Closeable {
    static final int HEADER_BYTES = 56;
    static final int CRC_BYTES = 4;
    /** Bytes of the largest chunk: with its header it fits {@link PackedEntry#MAX_LENGTH}, compressed or not. */
    static final int MAX_CHUNK_BYTES = PackedEntry.MAX_LENGTH - HEADER_BYTES - CRC_BYTES - PackedEntry.ALIGNMENT;

    private static final int MAGIC = 'S' | 'A' << 8 | 'R' << 16 | 'R' << 24;
    private static final byte VERSION = 2;
    private static final int VERSION_AT = 4;
    private static final int CODEC_AT = 5;
    private static final int SAVING_AT = 6;
    private static final int CHUNK_AT = 8;
    private static final int RAW_LENGTH_AT = 16;
    private static final int STORED_LENGTH_AT = 20;
    private static final int FINGERPRINT_AT = 24;

    static {
        if (FINGERPRINT_AT + Fingerprints.BYTES != HEADER_BYTES) {
            throw new AssertionError("the fingerprint ends the header");
        }
    }

    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);

    static final Compression COMPRESSION = new Compression(Compression.Codec.ZSTD, 1, MAX_CHUNK_BYTES);

    private final Compressor compressor = new Compressor(COMPRESSION);
    private final ContentHasher hasher = new ContentHasher();
    private final ContentHash hash;

    /** For chunks with the fingerprints of volumes of files. */
    RecordFormat() {
        this(ContentHash.SHA_256);
    }

    /** @param hash makes the fingerprints of the chunks */
    RecordFormat(ContentHash hash) {
        this.hash = hash;
    }

    /** Returns the bytes that {@link #encode} needs for a chunk of this length. */
    int bound(int rawLength) {
        return recordLength(Math.max(rawLength, compressor.bound(rawLength)));
    }

    /** Returns the length of a record with this many bytes of payload. */
    static int recordLength(int storedLength) {
        int bytes = HEADER_BYTES + storedLength + CRC_BYTES;
        return (bytes + PackedEntry.ALIGNMENT - 1) / PackedEntry.ALIGNMENT * PackedEntry.ALIGNMENT;
    }

    /**
     * Encodes a chunk, except the saving and the crc, which {@link #seal} adds once the segment is known.
     *
     * @param fingerprintPrefix first bytes that the fingerprint of the data must have
     * @return length of the record in bytes, or 0 if the bytes are not those of the chunk
     */
    int encode(long chunkId, int fingerprintPrefix, byte[] data, int from, int rawLength, byte[] target, int at) {
        hasher.fingerprint(hash, data, from, rawLength, target, at + FINGERPRINT_AT);
        if (Fingerprints.fingerprintPrefix(target, at + FINGERPRINT_AT) != fingerprintPrefix) {
            return 0;
        }
        int payload = at + HEADER_BYTES;
        int stored = compressor.compress(data, from, rawLength, target, payload);
        Compression.Codec codec = stored > 0 ? compressor.codec() : Compression.Codec.NONE;
        if (stored == 0) {
            System.arraycopy(data, from, target, payload, rawLength);
            stored = rawLength;
        }
        INT.set(target, at, MAGIC);
        target[at + VERSION_AT] = VERSION;
        target[at + CODEC_AT] = (byte) codec.code();
        SHORT.set(target, at + SAVING_AT, (short) 0);
        LONG.set(target, at + CHUNK_AT, chunkId);
        INT.set(target, at + RAW_LENGTH_AT, rawLength);
        INT.set(target, at + STORED_LENGTH_AT, stored);
        return recordLength(stored);
    }

    /**
     * Completes a record, whose header contains its length, with its saving, crc and padding.
     *
     * @param saving disk time that a read of it saves, so that a rebuilt Map table has it; cut to the largest, 65535
     */
    static void seal(byte[] bytes, int at, long salt, int saving) {
        SHORT.set(bytes, at + SAVING_AT, (short) Math.min(saving, PackedEntry.MAX_SAVING));
        int crcAt = at + HEADER_BYTES + (int) INT.get(bytes, at + STORED_LENGTH_AT);
        int end = at + recordLength(crcAt - at - HEADER_BYTES);
        INT.set(bytes, crcAt, crc(bytes, at, crcAt, salt));
        for (int i = crcAt + CRC_BYTES; i < end; i++) {
            bytes[i] = 0;
        }
    }

    private static int crc(byte[] bytes, int from, int to, long salt) {
        CRC32C crc = new CRC32C();
        for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
            crc.update((int) (salt >>> shift) & 0xff);
        }
        crc.update(bytes, from, to - from);
        return (int) crc.getValue();
    }

    /**
     * Returns the length of the record that seems to begin there, judged by its header alone, at most {@code room}; 0
     * if none does.
     *
     * @param bytes bytes with a whole header at {@code at}
     */
    static int lengthAt(byte[] bytes, int at, long room) {
        if ((int) INT.get(bytes, at) != MAGIC || bytes[at + VERSION_AT] != VERSION) {
            return 0;
        }
        int raw = (int) INT.get(bytes, at + RAW_LENGTH_AT);
        int stored = (int) INT.get(bytes, at + STORED_LENGTH_AT);
        if (raw < 1 || raw > MAX_CHUNK_BYTES || stored < 1 || stored > raw || chunkIdAt(bytes, at) <= 0) {
            return 0;
        }
        int length = recordLength(stored);
        return length <= room ? length : 0;
    }

    /** Returns the chunk id in a record's header. */
    static long chunkIdAt(byte[] bytes, int at) {
        return (long) LONG.get(bytes, at + CHUNK_AT);
    }

    /** Returns the saving in a record's header. */
    static int savingAt(byte[] bytes, int at) {
        return (short) SHORT.get(bytes, at + SAVING_AT) & 0xffff;
    }

    /** Returns whether a whole record of that chunk is there, as it was written to the segment file with that salt. */
    static boolean isSound(byte[] bytes, int at, int length, long salt, long chunkId) {
        if (length < HEADER_BYTES + CRC_BYTES
                || lengthAt(bytes, at, length) != length
                || chunkIdAt(bytes, at) != chunkId) {
            return false;
        }
        int crcAt = at + HEADER_BYTES + (int) INT.get(bytes, at + STORED_LENGTH_AT);
        if ((int) INT.get(bytes, crcAt) != crc(bytes, at, crcAt, salt)) {
            return false;
        }
        for (int i = crcAt + CRC_BYTES; i < at + length; i++) {
            if (bytes[i] != 0) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns the bytes of a chunk; null if the bytes there are not its record.
     *
     * @param fingerprintPrefix first bytes that its fingerprint must have
     * @param wanted least length of the chunk, in bytes
     */
    byte @Nullable [] decode(
            byte[] bytes, int at, int length, long salt, long chunkId, int fingerprintPrefix, int wanted) {
        if (!isRecordOf(bytes, at, length, salt, chunkId, fingerprintPrefix)) {
            return null;
        }
        Compression.Codec codec = codecOf(bytes[at + CODEC_AT]);
        int raw = (int) INT.get(bytes, at + RAW_LENGTH_AT);
        if (codec == null || raw < wanted) {
            return null;
        }
        byte[] data = new byte[raw];
        int stored = (int) INT.get(bytes, at + STORED_LENGTH_AT);
        return compressor.decompress(codec, bytes, at + HEADER_BYTES, stored, data) == null ? data : null;
    }

    /**
     * A chunk whose bytes have the fingerprint of its record.
     *
     * @param rawLength bytes of the chunk
     * @param fingerprint its fingerprint
     */
    record Whole(int rawLength, byte[] fingerprint) {}

    /**
     * Verifies a record whole: its checksum, and that its bytes have the fingerprint in its header. Returns null if the
     * bytes there are not the record of that chunk.
     */
    @Nullable
    Whole decodeWhole(byte[] bytes, int at, int length, long salt, long chunkId) {
        int prefix = length < HEADER_BYTES ? 0 : Fingerprints.fingerprintPrefix(bytes, at + FINGERPRINT_AT);
        byte[] data = decode(bytes, at, length, salt, chunkId, prefix, 1);
        if (data == null) {
            return null;
        }
        int from = at + FINGERPRINT_AT;
        return new ContentHasher().matches(data, 0, data.length, bytes, from)
                ? new Whole(data.length, Arrays.copyOfRange(bytes, from, from + Fingerprints.BYTES))
                : null;
    }

    /** Returns whether the record of that chunk is there, and its fingerprint begins with {@code fingerprintPrefix}. */
    boolean isRecordOf(byte[] bytes, int at, int length, long salt, long chunkId, int fingerprintPrefix) {
        return isSound(bytes, at, length, salt, chunkId)
                && Fingerprints.fingerprintPrefix(bytes, at + FINGERPRINT_AT) == fingerprintPrefix;
    }

    private static Compression.@Nullable Codec codecOf(byte code) {
        return switch (code) {
            case 0 -> Compression.Codec.NONE;
            case 1 -> Compression.Codec.ZSTD;
            case 2 -> Compression.Codec.LZ4;
            default -> null;
        };
    }

    @Override
    public void close() {
        compressor.close();
    }
}
