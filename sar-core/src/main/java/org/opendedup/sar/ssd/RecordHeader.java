package org.opendedup.sar.ssd;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.crypt.Sealer;

/** The fields of a record of the SSD log, which {@link RecordFormat} describes. */
final class RecordHeader {
    static final byte VERSION = 2;
    /** A record whose fingerprint and payload are encrypted. */
    static final byte SEALED_VERSION = 3;

    static final int BYTES = 56;
    static final int CRC_BYTES = 4;
    /** Bytes of the largest chunk: with its header it fits {@link PackedEntry#MAX_LENGTH}, compressed or not. */
    static final int MAX_CHUNK_BYTES =
            PackedEntry.MAX_LENGTH - BYTES - Sealer.TAG_BYTES - CRC_BYTES - PackedEntry.ALIGNMENT;

    private static final int MAGIC = 'S' | 'A' << 8 | 'R' << 16 | 'R' << 24;
    private static final int VERSION_AT = 4;
    private static final int CODEC_AT = 5;
    private static final int SAVING_AT = 6;
    private static final int CHUNK_AT = 8;
    private static final int RAW_LENGTH_AT = 16;
    private static final int STORED_LENGTH_AT = 20;
    static final int FINGERPRINT_AT = 24;

    static {
        if (FINGERPRINT_AT + Fingerprints.BYTES != BYTES) {
            throw new AssertionError("the fingerprint ends the header");
        }
    }

    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);

    private RecordHeader() {}

    /** Puts a header, without its saving and its fingerprint. */
    static void put(
            byte[] bytes,
            int at,
            byte version,
            Compression.Codec codec,
            long chunkId,
            int rawLength,
            int storedLength) {
        INT.set(bytes, at, MAGIC);
        bytes[at + VERSION_AT] = version;
        bytes[at + CODEC_AT] = (byte) codec.code();
        SHORT.set(bytes, at + SAVING_AT, (short) 0);
        LONG.set(bytes, at + CHUNK_AT, chunkId);
        INT.set(bytes, at + RAW_LENGTH_AT, rawLength);
        INT.set(bytes, at + STORED_LENGTH_AT, storedLength);
    }

    /** Returns the length of a record of a version with this many bytes of payload. */
    static int recordLength(int storedLength, byte version) {
        int tagBytes = version == SEALED_VERSION ? Sealer.TAG_BYTES : 0;
        return aligned(BYTES + storedLength + tagBytes + CRC_BYTES);
    }

    static int aligned(int bytes) {
        return (bytes + PackedEntry.ALIGNMENT - 1) / PackedEntry.ALIGNMENT * PackedEntry.ALIGNMENT;
    }

    static void putSaving(byte[] bytes, int at, int saving) {
        SHORT.set(bytes, at + SAVING_AT, (short) Math.min(saving, PackedEntry.MAX_SAVING));
    }

    static void putCrc(byte[] bytes, int crcAt, int crc) {
        INT.set(bytes, crcAt, crc);
    }

    static int crcAt(byte[] bytes, int crcAt) {
        return (int) INT.get(bytes, crcAt);
    }

    /** Returns the bytes of payload in the header of a record that {@link RecordFormat#encode} made. */
    static int storedLengthAt(byte[] bytes, int at) {
        return (int) INT.get(bytes, at + STORED_LENGTH_AT);
    }

    /** Returns the bytes of payload of the record of this version that seems to begin there; 0 if none does. */
    static int storedLengthAt(byte[] bytes, int at, byte version) {
        if ((int) INT.get(bytes, at) != MAGIC || bytes[at + VERSION_AT] != version) {
            return 0;
        }
        int raw = rawLengthAt(bytes, at);
        int stored = storedLengthAt(bytes, at);
        boolean valid = raw >= 1 && raw <= MAX_CHUNK_BYTES && stored >= 1 && stored <= raw && chunkIdAt(bytes, at) > 0;
        return valid ? stored : 0;
    }

    /** Returns the chunk id in a record's header. */
    static long chunkIdAt(byte[] bytes, int at) {
        return (long) LONG.get(bytes, at + CHUNK_AT);
    }

    /** Returns the saving in a record's header. */
    static int savingAt(byte[] bytes, int at) {
        return (short) SHORT.get(bytes, at + SAVING_AT) & 0xffff;
    }

    /** Returns the bytes of the chunk in a record's header. */
    static int rawLengthAt(byte[] bytes, int at) {
        return (int) INT.get(bytes, at + RAW_LENGTH_AT);
    }

    /** Returns the codec in a record's header; null if it is unknown. */
    static Compression.@Nullable Codec codecAt(byte[] bytes, int at) {
        return codecOf(bytes[at + CODEC_AT]);
    }

    private static Compression.@Nullable Codec codecOf(byte code) {
        return switch (code) {
            case 0 -> Compression.Codec.NONE;
            case 1 -> Compression.Codec.ZSTD;
            case 2 -> Compression.Codec.LZ4;
            default -> null;
        };
    }
}
