package org.opendedup.sar.metadata;

import java.io.IOException;
import org.opendedup.sar.metadata.db.KeyValueStore;

/** A key-value store of which a test changes some calls. The others go on to the store that it is made of. */
public abstract class HookedKeyValueStore<S extends KeyValueStore> implements KeyValueStore {
    protected final S store;

    protected HookedKeyValueStore(S store) {
        this.store = store;
    }

    /** Commits a batch of the store, or fails. */
    protected void commit(Batch batch) throws IOException {
        batch.commit();
    }

    /** Commits a batch of the store that need not be durable yet, or fails. */
    protected void commitLater(Batch batch) throws IOException {
        commit(batch);
    }

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
            public void commitLater() throws IOException {
                HookedKeyValueStore.this.commitLater(batch);
            }

            @Override
            public void close() {
                batch.close();
            }
        };
    }

    @Override
    public void close() throws IOException {
        store.close();
    }
}
