package org.opendedup.sar.metadata;

import java.io.IOException;

/** A key-value store whose commits a test can make fail. Everything else goes on to the store that it is made of. */
public abstract class HookedKeyValueStore implements KeyValueStore {
    protected final CrashKeyValueStore store;

    protected HookedKeyValueStore(CrashKeyValueStore store) {
        this.store = store;
    }

    /** Commits a batch of the store, or fails. */
    protected abstract void commit(Batch batch) throws IOException;

    /** Adds a record to a batch of the store. */
    protected void put(Batch batch, Family family, byte[] key, byte[] value) throws IOException {
        batch.put(family, key, value);
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
    public Batch batch() throws IOException {
        Batch batch = store.batch();
        return new Batch() {
            @Override
            public void put(Family family, byte[] key, byte[] value) throws IOException {
                HookedKeyValueStore.this.put(batch, family, key, value);
            }

            @Override
            public void delete(Family family, byte[] key) throws IOException {
                batch.delete(family, key);
            }

            @Override
            public void commit() throws IOException {
                HookedKeyValueStore.this.commit(batch);
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
