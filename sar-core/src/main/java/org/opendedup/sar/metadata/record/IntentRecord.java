package org.opendedup.sar.metadata.record;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * A record of the intent log: a change of the bytes of a file that are durable in the log and in no chunk yet. The
 * records of a file apply in the order of their numbers, which begin at 0 and have no gaps.
 *
 * <p>Its stored format: a version byte, the kind, offset and length as varints, the bytes, and a checksum. The key is
 * the inode number and the record's number.
 *
 * @param number its number among the records of the file
 * @param offset offset in the file of the first byte concerned
 * @param length number of bytes concerned, at least 1
 * @param bytes the bytes written there; null if the log does not have the bytes of this range any more: they are in the
 *     recipe, or were removed
 */
public record IntentRecord(long number, long offset, long length, byte @Nullable [] bytes) {
    static final int VERSION = 1;

    private static final int WRITTEN = 0;
    private static final int DROPPED = 1;

    /** Most bytes of a record besides the bytes written. */
    private static final int FRAMING_BYTES = 22 + RecordChecksum.BYTES;

    /** Returns the same change under another number. */
    public IntentRecord withNumber(long other) {
        return new IntentRecord(other, offset, length, bytes);
    }

    /** Returns the offset after the last byte concerned. */
    public long end() {
        return offset + length;
    }

    public static byte[] encode(byte[] key, IntentRecord record) {
        byte[] bytes = record.bytes();
        ValueWriter out = new ValueWriter(FRAMING_BYTES + (bytes == null ? 0 : bytes.length))
                .writeByte(VERSION)
                .writeByte(bytes == null ? DROPPED : WRITTEN)
                .writeVarint(record.offset())
                .writeVarint(record.length());
        if (bytes != null) {
            out.writeBytes(bytes);
        }
        return out.writeIntLittleEndian(RecordChecksum.of(key, out.buffer(), out.length()))
                .toBytes();
    }

    /** Decodes a record; null if it is damaged. */
    public static @Nullable IntentRecord decodeIfSound(byte[] key, byte[] value) {
        try {
            return key.length < 2 * Keys.LONG_BYTES ? null : decode(key, value);
        } catch (CorruptionException | UnsupportedFormatException e) {
            return null;
        }
    }

    public static IntentRecord decode(byte[] key, byte[] value) throws CorruptionException, UnsupportedFormatException {
        long inode = Keys.longAt(key, 0);
        long number = Keys.longAt(key, Keys.LONG_BYTES);
        String kind = "intent " + number + " of inode";
        RecordChecksum.verify(key, value, kind, inode);
        ValueReader in =
                new ValueReader(value, value.length - RecordChecksum.BYTES, kind, inode).expectVersion(VERSION);
        int form = in.readByte();
        long offset = in.readVarint(Long.MAX_VALUE);
        long length = in.readVarint(Long.MAX_VALUE - offset);
        if (length == 0 || form != DROPPED && (form != WRITTEN || length != in.remaining())) {
            throw in.corruption("as many bytes as its length says", length + " bytes, kind " + form);
        }
        byte[] bytes = form == WRITTEN ? in.readBytes(in.remaining()) : null;
        in.expectEnd();
        return new IntentRecord(number, offset, length, bytes);
    }
}
