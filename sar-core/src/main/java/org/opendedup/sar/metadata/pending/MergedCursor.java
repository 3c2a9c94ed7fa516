package org.opendedup.sar.metadata.pending;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;

/**
 * Merges cursors, newest layer first: of equal keys the newest is returned, and {@link Generation#DELETED} hides a key.
 */
final class MergedCursor implements Cursor {
    private final List<Source> sources = new ArrayList<>(3);
    private byte @Nullable [] key;
    private byte @Nullable [] value;

    MergedCursor(List<Cursor> newestFirst) throws IOException {
        for (Cursor cursor : newestFirst) {
            sources.add(new Source(cursor));
        }
        try {
            for (Source source : sources) {
                source.advance();
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    @Override
    public boolean next() throws IOException {
        do {
            Source newest = smallest();
            key = newest == null ? null : newest.key;
            value = newest == null ? null : newest.cursor.value();
            skip(key);
        } while (value == Generation.DELETED);
        return key != null;
    }

    @Override
    public byte[] key() {
        return present(key);
    }

    @Override
    public byte[] value() {
        return present(value);
    }

    @Override
    public void close() {
        sources.forEach(source -> source.cursor.close());
    }

    /** Returns the source that is at the smallest key; if there are several, the newest. */
    private @Nullable Source smallest() {
        Source smallest = null;
        for (Source source : sources) {
            if (source.key != null && (smallest == null || Arrays.compareUnsigned(source.key, smallest.key) < 0)) {
                smallest = source;
            }
        }
        return smallest;
    }

    private void skip(byte @Nullable [] passed) throws IOException {
        for (Source source : sources) {
            if (source.key != null && Arrays.equals(source.key, passed)) {
                source.advance();
            }
        }
    }

    private static byte[] present(byte @Nullable [] bytes) {
        if (bytes == null) {
            throw new NoSuchElementException("the cursor is not at an entry");
        }
        return bytes;
    }

    /** A cursor and its current key; null at its end. */
    private static final class Source {
        final Cursor cursor;
        byte @Nullable [] key;

        Source(Cursor cursor) {
            this.cursor = cursor;
        }

        void advance() throws IOException {
            key = cursor.next() ? cursor.key() : null;
        }
    }
}
