package org.opendedup.sar.metadata.record;

import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * The format of a record of the intent log: a version byte, the kind, offset and length as varints, the bytes, and a
 * checksum. The key is the inode number and the record's number.
 */
public final class IntentFormat {
    static final int VERSION = 1;

    private static final int WRITTEN = 0;
    private static final int DROPPED = 1;

    /** Most bytes of a record besides the bytes written. */
    private static final int FRAMING_BYTES = 22 + RecordChecksum.BYTES;

    private IntentFormat() {}

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
