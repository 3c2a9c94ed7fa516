package org.opendedup.sar.check;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.db.RecordCursor;

/** A cursor that is at a record, and knows the record's number. */
final class Ahead<T> implements Closeable {
    private final RecordCursor<T> cursor;
    private long id;

    Ahead(RecordCursor<T> cursor) throws IOException {
        this.cursor = cursor;
        try {
            next();
        } catch (IOException e) {
            // Nobody else would close it, and the database could not be closed then.
            cursor.close();
            throw e;
        }
    }

    void next() throws IOException {
        id = cursor.next() ? cursor.id() : Long.MAX_VALUE;
    }

    /** Returns the number of the record; {@link Long#MAX_VALUE} at the end. */
    long id() {
        return id;
    }

    /** Returns the record; null if it is damaged. */
    @Nullable
    T value() {
        return cursor.value();
    }

    @Override
    public void close() {
        cursor.close();
    }
}
