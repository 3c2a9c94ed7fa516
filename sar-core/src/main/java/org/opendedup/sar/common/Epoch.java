package org.opendedup.sar.common;

import java.nio.ByteBuffer;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Names the state in which a database or a location of a volume was last used. Each mount begins a new epoch and writes
 * it into all of them. The token is random: it distinguishes two histories that branch from one backup although their
 * numbers are equal.
 *
 * @param volume the volume
 * @param number 1 for the state that mkfs.sdfs creates; each mount adds 1
 * @param token random
 */
public record Epoch(UUID volume, long number, long token) {
    /** Bytes that {@link #put} writes. */
    public static final int BYTES = 4 * Long.BYTES;

    /** Writes it, in the order of the buffer. */
    public ByteBuffer put(ByteBuffer target) {
        return target.putLong(volume.getMostSignificantBits())
                .putLong(volume.getLeastSignificantBits())
                .putLong(number)
                .putLong(token);
    }

    /** Reads what {@link #put} wrote. */
    public static Epoch get(ByteBuffer source) {
        return new Epoch(new UUID(source.getLong(), source.getLong()), source.getLong(), source.getLong());
    }

    /** Returns it as a record, big-endian. */
    public byte[] toRecord() {
        return put(ByteBuffer.allocate(BYTES)).array();
    }

    /** Reads a record; null if there is none, or one of another length. */
    public static @Nullable Epoch ofRecord(byte @Nullable [] record) {
        return record == null || record.length != BYTES ? null : get(ByteBuffer.wrap(record));
    }

    @Override
    public String toString() {
        return "epoch " + number + " of volume " + volume;
    }
}
