package org.opendedup.sar.metadata.remote;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.ValueReader;
import org.opendedup.sar.metadata.record.ValueWriter;

/**
 * The changes of a batch, as a log segment has them: {@code changes:varint change*}, and each change is
 * {@code family:u8 key-length:varint key value-length+1:varint value}; instead of the last two, a deletion has a 0. For
 * one thread.
 */
final class LoggedBatch {
    private static final Family[] FAMILIES = Family.values();
    private static final int EXPECTED_BYTES = 256;
    private static final int COUNT_BYTES = 10;

    private final ValueWriter changes = new ValueWriter(EXPECTED_BYTES);
    private int count;

    void put(Family family, byte[] key, byte[] value) {
        key(family, key);
        changes.writeVarint(value.length + 1L).writeBytes(value);
    }

    void delete(Family family, byte[] key) {
        key(family, key);
        changes.writeByte(0);
    }

    private void key(Family family, byte[] key) {
        changes.writeByte(family.ordinal()).writeVarint(key.length).writeBytes(key);
        count++;
    }

    /** Returns the number of changes. */
    int count() {
        return count;
    }

    /** Returns the bytes that {@link #writeTo} writes. */
    int bytes() {
        return countBytes().length + changes.length();
    }

    void writeTo(ByteArrayOutputStream out) {
        out.writeBytes(countBytes());
        out.write(changes.buffer(), 0, changes.length());
    }

    private byte[] countBytes() {
        return new ValueWriter(COUNT_BYTES).writeVarint(count).toBytes();
    }

    /**
     * Applies batches to a database, each as one, if it does not have them yet. Durable when it returns.
     *
     * @param batches batches, one after the other
     * @param first number of the last change before them
     * @param place names them in messages
     * @return number of the last change of them
     */
    static long apply(byte[] batches, long first, KeyValueStore target, String place) throws IOException {
        ValueReader in = new ValueReader(batches, place, first);
        long sequence = first;
        while (in.remaining() > 0) {
            long count = in.readVarint(Integer.MAX_VALUE);
            sequence += count;
            if (sequence <= target.changes()) {
                pass(in, count, null);
                continue;
            }
            if (target.changes() != sequence - count) {
                throw in.corruption("changes from number " + target.changes(), "those from " + (sequence - count));
            }
            try (Batch batch = target.batch()) {
                pass(in, count, batch);
                if (in.remaining() > 0) {
                    batch.commitLater();
                } else {
                    batch.commit();
                }
            }
            if (target.changes() != sequence) {
                throw in.corruption("a database with " + sequence + " changes", "one with " + target.changes());
            }
        }
        return sequence;
    }

    private static void pass(ValueReader in, long count, @Nullable Batch batch) throws IOException {
        for (long i = 0; i < count; i++) {
            int family = in.readByte();
            if (family >= FAMILIES.length) {
                throw in.corruption("a family up to " + (FAMILIES.length - 1), Integer.toString(family));
            }
            byte[] key = bytes(in, in.readVarint(Integer.MAX_VALUE));
            long valueLength = in.readVarint(Integer.MAX_VALUE) - 1;
            byte[] value = valueLength < 0 ? null : bytes(in, valueLength);
            if (batch == null) {
                continue;
            }
            if (value == null) {
                batch.delete(FAMILIES[family], key);
            } else {
                batch.put(FAMILIES[family], key, value);
            }
        }
    }

    private static byte[] bytes(ValueReader in, long length) throws CorruptionException {
        return in.readBytes((int) length);
    }
}
