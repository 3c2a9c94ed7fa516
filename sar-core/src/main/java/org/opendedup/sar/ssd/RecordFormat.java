package org.opendedup.sar.ssd;

import java.io.Closeable;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.ContentHasher;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.Compressor;
import org.opendedup.sar.crypt.VolumeKeys;

/**
 * Format of a record of the SSD log: one chunk, which describes itself (docs/FORMAT.md, "SSD location"). Little-endian.
 *
 * <pre>
 * record = "SARR" version:u8 codec:u8 saving:u16 chunk-id:u64 raw-length:u32 stored-length:u32
 *          fingerprint:32 payload tag crc:u32 padding           tag: 16 bytes if encrypted, otherwise none
 * </pre>
 *
 * <p>The crc covers the salt of the segment file and all bytes of the record up to the crc. So data of a user that look
 * like a record, or a record left from an older file of the same number, are never mistaken for a record of this file.
 * {@link RecordSeal} adds what depends on the file.
 *
 * <p>Compression is zstd, level 1, because SSD space is scarce. It reduced 4 KiB chunks of a Linux root file system to
 * 0.42 of their bytes, LZ4 to 0.53; decoding needs 6 µs instead of 2. For 16 KiB chunks it is 0.40 and 0.50, 13 µs and
 * 4.
 *
 * <p>Decoding is safe for use by many threads; encoding is for one.
 */
class RecordFormat implements Closeable {
    static final Compression COMPRESSION = new Compression(Compression.Codec.ZSTD, 1, RecordHeader.MAX_CHUNK_BYTES);

    private final Compressor compressor = new Compressor(COMPRESSION);
    private final ContentHasher hasher = new ContentHasher();
    private final ContentHash hash;
    private final @Nullable VolumeKeys keys;

    /** For chunks with the fingerprints of volumes of files, not encrypted. */
    RecordFormat() {
        this(ContentHash.SHA_256, null);
    }

    /**
     * @param hash makes the fingerprints of the chunks
     * @param keys what records are encrypted with; null: they are not
     */
    RecordFormat(ContentHash hash, @Nullable VolumeKeys keys) {
        this.hash = hash;
        this.keys = keys;
    }

    @Nullable
    VolumeKeys keys() {
        return keys;
    }

    private byte version() {
        return keys == null ? RecordHeader.VERSION : RecordHeader.SEALED_VERSION;
    }

    /** Returns the bytes that {@link #encode} needs for a chunk of this length. */
    int bound(int rawLength) {
        return RecordHeader.recordLength(Math.max(rawLength, compressor.bound(rawLength)), version());
    }

    /**
     * Encodes a chunk, except the saving, tag and crc, which {@link RecordSeal#complete} adds once the segment is
     * known.
     *
     * @param fingerprintPrefix first bytes that the fingerprint of the data must have
     * @return length of the record in bytes, or 0 if the bytes are not those of the chunk
     */
    int encode(long chunkId, int fingerprintPrefix, byte[] data, int from, int rawLength, byte[] target, int at) {
        hasher.fingerprint(hash, data, from, rawLength, target, at + RecordHeader.FINGERPRINT_AT);
        if (Fingerprints.fingerprintPrefix(target, at + RecordHeader.FINGERPRINT_AT) != fingerprintPrefix) {
            return 0;
        }
        int payload = at + RecordHeader.BYTES;
        int stored = compressor.compress(data, from, rawLength, target, payload);
        Compression.Codec codec = stored > 0 ? compressor.codec() : Compression.Codec.NONE;
        if (stored == 0) {
            System.arraycopy(data, from, target, payload, rawLength);
            stored = rawLength;
        }
        RecordHeader.put(target, at, version(), codec, chunkId, rawLength, stored);
        return RecordHeader.recordLength(stored, version());
    }

    /**
     * Returns the bytes of a chunk; null if the bytes there are not its record.
     *
     * @param seal that of the segment file
     * @param offset of the record in the segment file
     * @param fingerprintPrefix first bytes that its fingerprint must have
     * @param wanted least length of the chunk, in bytes
     */
    byte @Nullable [] decode(
            byte[] bytes,
            int at,
            int length,
            RecordSeal seal,
            long offset,
            long chunkId,
            int fingerprintPrefix,
            int wanted) {
        RecordSeal.Opened opened = open(bytes, at, length, seal, offset, chunkId);
        return opened == null || !isOf(opened, fingerprintPrefix) ? null : decompress(opened, wanted);
    }

    private RecordSeal.@Nullable Opened open(
            byte[] bytes, int at, int length, RecordSeal seal, long offset, long chunkId) {
        return isRecordOf(bytes, at, length, seal, chunkId) ? seal.opened(bytes, at, length, offset) : null;
    }

    private byte @Nullable [] decompress(RecordSeal.Opened opened, int wanted) {
        byte[] bytes = opened.bytes();
        int at = opened.at();
        Compression.Codec codec = RecordHeader.codecAt(bytes, at);
        int raw = RecordHeader.rawLengthAt(bytes, at);
        if (codec == null || raw < wanted) {
            return null;
        }
        byte[] data = new byte[raw];
        int stored = RecordHeader.storedLengthAt(bytes, at);
        return compressor.decompress(codec, bytes, at + RecordHeader.BYTES, stored, data) == null ? data : null;
    }

    /**
     * A chunk whose bytes have the fingerprint of its record.
     *
     * @param rawLength bytes of the chunk
     * @param fingerprint its fingerprint
     */
    record Whole(int rawLength, byte[] fingerprint) {}

    /**
     * Verifies a record whole: its checksum and tag, and that its bytes have the fingerprint in its header. Returns
     * null if the bytes there are not the record of that chunk. The parameters are those of {@link #decode}.
     */
    @Nullable
    Whole decodeWhole(byte[] bytes, int at, int length, RecordSeal seal, long offset, long chunkId) {
        RecordSeal.Opened opened = open(bytes, at, length, seal, offset, chunkId);
        byte[] data = opened == null ? null : decompress(opened, 1);
        if (opened == null || data == null) {
            return null;
        }
        int from = opened.at() + RecordHeader.FINGERPRINT_AT;
        return new ContentHasher().matches(data, 0, data.length, opened.bytes(), from)
                ? new Whole(data.length, Arrays.copyOfRange(opened.bytes(), from, from + Fingerprints.BYTES))
                : null;
    }

    /** Returns whether the record of that chunk is there. */
    boolean isRecordOf(byte[] bytes, int at, int length, RecordSeal seal, long chunkId) {
        return seal.isSound(bytes, at, length, chunkId);
    }

    /** Returns whether the record's fingerprint begins with {@code fingerprintPrefix}. */
    boolean isOf(RecordSeal.Opened record, int fingerprintPrefix) {
        return Fingerprints.fingerprintPrefix(record.bytes(), record.at() + RecordHeader.FINGERPRINT_AT)
                == fingerprintPrefix;
    }

    @Override
    public void close() {
        compressor.close();
    }
}
