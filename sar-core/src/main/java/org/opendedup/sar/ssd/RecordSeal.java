package org.opendedup.sar.ssd;

import java.util.Arrays;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.crypt.Sealer;

/**
 * What makes a record one of its segment file: the file's salt in the checksum, and on an encrypted volume the file's
 * key, with the record's offset as the number. Safe for use by many threads.
 */
final class RecordSeal {
    private final long salt;
    private final @Nullable Sealer sealer;

    RecordSeal(long salt, @Nullable Sealer sealer) {
        this.salt = salt;
        this.sealer = sealer;
    }

    long salt() {
        return salt;
    }

    /**
     * Returns the length of the record that seems to begin there, judged by its header alone, at most {@code room}; 0
     * if none of this file does.
     *
     * @param bytes bytes with a whole header at {@code at}
     */
    int lengthAt(byte[] bytes, int at, long room) {
        byte version = sealer == null ? RecordHeader.VERSION : RecordHeader.SEALED_VERSION;
        int stored = RecordHeader.storedLengthAt(bytes, at, version);
        int length = stored == 0 ? 0 : RecordHeader.recordLength(stored, version);
        return length <= room ? length : 0;
    }

    /**
     * Completes a record, whose header contains its length, for a place in the file: with its saving, encrypted, with
     * crc and padding.
     *
     * @param offset of the record in the file, which no other record ever had
     * @param saving disk time that a read of it saves, so that a rebuilt Map table has it; cut to the largest, 65535
     */
    void complete(byte[] bytes, int at, long offset, int saving) {
        RecordHeader.putSaving(bytes, at, saving);
        int end = at + RecordHeader.BYTES + RecordHeader.storedLengthAt(bytes, at);
        if (sealer != null) {
            int from = at + RecordHeader.FINGERPRINT_AT;
            sealer.seal(offset, Arrays.copyOfRange(bytes, at, from), bytes, from, end - from);
            end += Sealer.TAG_BYTES;
        }
        int padded = at + RecordHeader.aligned(end - at + RecordHeader.CRC_BYTES);
        RecordHeader.putCrc(bytes, end, crc(bytes, at, end));
        Arrays.fill(bytes, end + RecordHeader.CRC_BYTES, padded, (byte) 0);
    }

    private int crc(byte[] bytes, int from, int to) {
        CRC32C crc = new CRC32C();
        for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
            crc.update((int) (salt >>> shift) & 0xff);
        }
        crc.update(bytes, from, to - from);
        return (int) crc.getValue();
    }

    /** Returns whether a whole record of that chunk is there, as it was written to this segment file. */
    boolean isSound(byte[] bytes, int at, int length, long chunkId) {
        if (length < RecordHeader.BYTES + RecordHeader.CRC_BYTES
                || lengthAt(bytes, at, length) != length
                || RecordHeader.chunkIdAt(bytes, at) != chunkId) {
            return false;
        }
        int end = at + RecordHeader.BYTES + RecordHeader.storedLengthAt(bytes, at) + tagBytes();
        if (RecordHeader.crcAt(bytes, end) != crc(bytes, at, end)) {
            return false;
        }
        for (int i = end + RecordHeader.CRC_BYTES; i < at + length; i++) {
            if (bytes[i] != 0) {
                return false;
            }
        }
        return true;
    }

    private int tagBytes() {
        return sealer == null ? 0 : Sealer.TAG_BYTES;
    }

    /**
     * Copies a sound record to {@code target}, decrypted, as {@link RecordFormat#encode} made it.
     *
     * @return false if it was sealed with another key or for another place: it was not written there by this volume
     */
    boolean open(byte[] bytes, int at, int length, long offset, byte[] target, int targetAt) {
        if (sealer == null) {
            System.arraycopy(bytes, at, target, targetAt, length);
            return true;
        }
        int from = RecordHeader.FINGERPRINT_AT;
        int sealed = RecordHeader.BYTES - from + RecordHeader.storedLengthAt(bytes, at);
        System.arraycopy(bytes, at, target, targetAt, from);
        return sealer.open(
                offset, Arrays.copyOfRange(bytes, at, at + from), bytes, at + from, sealed, target, targetAt + from);
    }

    /** Returns a sound record that may be decoded; null as {@link #open}. Not a copy if nothing is to be decrypted. */
    @Nullable
    Opened opened(byte[] bytes, int at, int length, long offset) {
        if (sealer == null) {
            return new Opened(bytes, at);
        }
        byte[] target = new byte[length];
        return open(bytes, at, length, offset, target, 0) ? new Opened(target, 0) : null;
    }

    /** A record's bytes, from {@code at} on. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Opened(byte[] bytes, int at) {}
}
