package org.opendedup.sar.metadata;

import java.io.IOException;
import org.opendedup.sar.common.WriteFailedException;

/** A key-value store whose disk fails while it is told to: no commit succeeds then, and reads go on. */
public final class FailingKeyValueStore implements KeyValueStore {
    private final CrashKeyValueStore store;
    private volatile boolean failing;

    public FailingKeyValueStore(CrashKeyValueStore store) {
        this.store = store;
    }

    public void fail(boolean fails) {
        failing = fails;
    }

    @Override
    public byte[] get(Family family, byte[] key) throws IOException {
        return store.get(family, key);
    }

    @Override
    public Cursor scan(Family family, byte[] from, byte[] to) throws IOException {
        return store.scan(family, from, to);
    }

    @Override
    public Batch batch() {
        Batch batch = store.batch();
        return new Batch() {
            @Override
            public void put(Family family, byte[] key, byte[] value) throws IOException {
                batch.put(family, key, value);
            }

            @Override
            public void delete(Family family, byte[] key) throws IOException {
                batch.delete(family, key);
            }

            @Override
            public void commit() throws IOException {
                synchronized (store) {
                    store.failNextCommits(failing ? 1 : 0);
                    try {
                        batch.commit();
                    } catch (IOException e) {
                        throw new WriteFailedException(e.getMessage(), e);
                    }
                }
            }

            @Override
            public void close() {
                batch.close();
            }
        };
    }

    @Override
    public void close() {
        store.close();
    }
}
