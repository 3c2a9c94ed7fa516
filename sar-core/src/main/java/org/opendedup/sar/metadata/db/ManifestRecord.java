package org.opendedup.sar.metadata.db;

import java.nio.ByteBuffer;

/**
 * The fields at the beginning of a manifest's record that have one number each. A record is a list of fields, each a
 * tag and a value; tags and numbers are varints. Those that list files come last.
 */
final class ManifestRecord {
    /** Bytes from a record's begin that contain all fields with one number, for the longest database id. */
    static final int PREFIX_BYTES = 256;

    private static final int COMPARATOR = 1;
    private static final int LOG_NUMBER = 2;
    private static final int NEXT_FILE_NUMBER = 3;
    private static final int LAST_SEQUENCE = 4;
    private static final int PREVIOUS_LOG_NUMBER = 9;
    private static final int LEAST_LOG_NUMBER = 10;
    private static final int MAX_FAMILY = 203;
    private static final int DATABASE_ID = 8193;
    private static final int VARINT_BYTES = 10;

    private ManifestRecord() {}

    /**
     * Returns the sequence number up to which the tables contain changes since this record; -1 if the record does not
     * tell.
     *
     * @param prefix the record's first bytes
     */
    static long lastSequence(ByteBuffer prefix) {
        while (prefix.hasRemaining()) {
            long tag = varint(prefix);
            if (tag != COMPARATOR
                    && tag != LOG_NUMBER
                    && tag != NEXT_FILE_NUMBER
                    && tag != LAST_SEQUENCE
                    && tag != PREVIOUS_LOG_NUMBER
                    && tag != LEAST_LOG_NUMBER
                    && tag != MAX_FAMILY
                    && tag != DATABASE_ID) {
                return -1;
            }
            long value = varint(prefix);
            if (tag == LAST_SEQUENCE) {
                return value;
            }
            if (tag == COMPARATOR || tag == DATABASE_ID) {
                if (value < 0 || value > prefix.remaining()) {
                    return -1;
                }
                prefix.position(prefix.position() + (int) value);
            }
        }
        return -1;
    }

    /** Returns -1 if the number does not end. */
    private static long varint(ByteBuffer bytes) {
        long value = 0;
        for (int i = 0; i < VARINT_BYTES && bytes.hasRemaining(); i++) {
            byte next = bytes.get();
            value |= (long) (next & 0x7f) << 7 * i;
            if (next >= 0) {
                return value;
            }
        }
        return -1;
    }
}
