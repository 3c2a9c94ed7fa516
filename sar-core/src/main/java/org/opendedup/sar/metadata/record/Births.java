package org.opendedup.sar.metadata.record;

import java.util.Arrays;

/**
 * The births of records that snapshots keep. The birth of a record is the number of the first snapshot that can have
 * it: the one that is made next when the record is written. A record that was born before the first snapshot of its
 * volume, with birth 0, is stored as it is. Another one has the upper bit of its first byte set, and its birth as a
 * varint behind that byte.
 */
public final class Births {
    private static final int MARK = 0x80;

    private Births() {}

    /** Returns a record with its birth. */
    public static byte[] stamped(byte[] record, long birth) {
        if (birth == 0 || record.length == 0) {
            return record;
        }
        return new ValueWriter(record.length + 3)
                .writeByte(record[0] | MARK)
                .writeVarint(birth)
                .writeBytes(Arrays.copyOfRange(record, 1, record.length))
                .toBytes();
    }

    private static boolean isStamped(byte[] value) {
        return value.length > 0 && (value[0] & MARK) != 0;
    }

    /** Returns the birth of a record; 0 if it has none. */
    public static long of(byte[] value) {
        long birth = 0;
        if (isStamped(value)) {
            for (int at = 1, shift = 0; at < value.length && shift < 64; at++, shift += 7) {
                birth |= (long) (value[at] & 0x7f) << shift;
                if (value[at] >= 0) {
                    return birth;
                }
            }
        }
        return 0;
    }

    /** Returns a record without its birth. One that is cut off within its birth is returned as it is. */
    public static byte[] body(byte[] value) {
        if (!isStamped(value)) {
            return value;
        }
        int end = 1;
        while (end < value.length && value[end] < 0) {
            end++;
        }
        if (end >= value.length) {
            return value;
        }
        byte[] body = Arrays.copyOfRange(value, end, value.length);
        body[0] = (byte) (value[0] & ~MARK);
        return body;
    }
}
