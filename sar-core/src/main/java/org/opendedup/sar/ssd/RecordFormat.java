package org.opendedup.sar.ssd;

import java.io.Closeable;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.security.DigestException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.Compression;
import org.opendedup.sar.container.Compressor;

/**
 * A record of the SSD log: one chunk, which describes itself (docs/FORMAT.md, "SSD location"). Little-endian.
 *
 * <pre>
 * record = "SARR" version:u8 codec:u8 zero:u16 chunk-id:u64 raw-length:u32 stored-length:u32 fingerprint:32 payload crc:u32 padding
 * </pre>
 *
 * <p>The crc covers the salt of the segment file and all bytes before it. So a record that lies in a file as somebody's data, or
 * that is left from an older file of that number, is never taken for one of this file.
 *
 * <p>zstd, level 1: the SSD is what is scarce. Of 4 KiB chunks of a Linux root file system it left 0.42 of the bytes where LZ4
 * left 0.53, for 6 µs of decoding instead of 2; of 16 KiB chunks 0.40 and 0.50, for 13 µs and 4.
 *
 * <p>Decoding is safe for use by many threads; encoding is for one.
 */
class RecordFormat implements Closeable {
    static final int HEADER_BYTES = 56;
    static final int CRC_BYTES = 4;
    /** The largest chunk: with its header it fits {@link PackedEntry#MAX_LENGTH}, compressed or not. */
    static final int MAX_CHUNK_BYTES = PackedEntry.MAX_LENGTH - HEADER_BYTES - CRC_BYTES - PackedEntry.ALIGNMENT;

    private static final int MAGIC = 'S' | 'A' << 8 | 'R' << 16 | 'R' << 24;
    private static final byte VERSION = 1;
    private static final int VERSION_AT = 4;
    private static final int CODEC_AT = 5;
    private static final int ZERO_AT = 6;
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
    private final MessageDigest digest;

    RecordFormat() {
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }

    /** Room that {@link #encode} needs for a chunk of so many bytes. */
    int bound(int rawLength) {
        return recordLength(Math.max(rawLength, compressor.bound(rawLength)));
    }

    /** Length of a record whose payload is so many bytes. */
    static int recordLength(int storedLength) {
        int bytes = HEADER_BYTES + storedLength + CRC_BYTES;
        return (bytes + PackedEntry.ALIGNMENT - 1) / PackedEntry.ALIGNMENT * PackedEntry.ALIGNMENT;
    }

    /**
     * Encodes a chunk, all but the crc, which {@link #seal} adds once the segment is known.
     *
     * @param check what the fingerprint of the bytes must begin with
     * @return length of the record, or 0 if the bytes are not those of the chunk
     */
    int encode(long chunkId, int check, byte[] data, int from, int rawLength, byte[] target, int at) {
        fingerprint(data, from, rawLength, target, at + FINGERPRINT_AT);
        if (Fingerprints.check(target, at + FINGERPRINT_AT) != check) {
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
        SHORT.set(target, at + ZERO_AT, (short) 0);
        LONG.set(target, at + CHUNK_AT, chunkId);
        INT.set(target, at + RAW_LENGTH_AT, rawLength);
        INT.set(target, at + STORED_LENGTH_AT, stored);
        return recordLength(stored);
    }

    private void fingerprint(byte[] data, int from, int length, byte[] target, int at) {
        try {
            digest.update(data, from, length);
            digest.digest(target, at, Fingerprints.BYTES);
        } catch (DigestException e) {
            throw new AssertionError("there is room for a fingerprint in a record", e);
        }
    }

    /** Ends a record, whose header says how long it is, with its crc and padding. */
    static void seal(byte[] bytes, int at, long salt) {
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
     * Length of the record that seems to begin there, going by its header alone, at most {@code room}; 0 if none does.
     *
     * @param bytes with a whole header at {@code at}
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

    /** The chunk id in a record's header. */
    static long chunkIdAt(byte[] bytes, int at) {
        return (long) LONG.get(bytes, at + CHUNK_AT);
    }

    /** Whether a whole record of that chunk lies there, as it was written to the segment file of that salt. */
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
     * The bytes of a chunk; null if what lies there is not its record.
     *
     * @param check what its fingerprint must begin with
     * @param wanted bytes it must have at least
     */
    byte @Nullable [] decode(byte[] bytes, int at, int length, long salt, long chunkId, int check, int wanted) {
        if (!isRecordOf(bytes, at, length, salt, chunkId, check)) {
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

    /** Whether the record of that chunk lies there, and its fingerprint begins so. */
    boolean isRecordOf(byte[] bytes, int at, int length, long salt, long chunkId, int check) {
        return isSound(bytes, at, length, salt, chunkId) && Fingerprints.check(bytes, at + FINGERPRINT_AT) == check;
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
