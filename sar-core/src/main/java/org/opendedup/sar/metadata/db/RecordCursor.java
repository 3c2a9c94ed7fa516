package org.opendedup.sar.metadata.db;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.record.Keys;

/** Reads the records of one kind in the order of their keys, damaged ones included. */
public final class RecordCursor<T> implements Closeable {
    /** Makes a value of a record. */
    @FunctionalInterface
    public interface Decoder<T> {
        T decode(byte[] key, byte[] value) throws IOException;
    }

    private final Cursor cursor;
    private final int keyBytes;
    private final Decoder<T> decoder;
    private byte[] key = {};
    private @Nullable T value;

    /** @param keyBytes shortest key of such a record; shorter ones are of no use to anybody, and are passed over */
    public RecordCursor(Cursor cursor, int keyBytes, Decoder<T> decoder) {
        this.cursor = cursor;
        this.keyBytes = keyBytes;
        this.decoder = decoder;
    }

    /** Moves to the next record; returns false at the end. */
    public boolean next() throws IOException {
        do {
            if (!cursor.next()) {
                return false;
            }
            key = cursor.key();
        } while (key.length < keyBytes);
        try {
            value = decoder.decode(key, cursor.value());
        } catch (CorruptionException | UnsupportedFormatException e) {
            // The version of the whole database was checked before: a record of another version is damaged, too.
            value = null;
        }
        return true;
    }

    /** Returns the number at the beginning of the key: that of an inode, of a directory or of a container. */
    public long id() {
        return Keys.longAt(key, 0);
    }

    /** Returns the record; null if it is damaged. */
    public @Nullable T value() {
        return value;
    }

    @Override
    public void close() {
        cursor.close();
    }
}
