package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import org.opendedup.sar.metadata.db.KeyValueStore;

/** A key-value store that counts the records read, by family, and the durable commits. For one thread. */
public final class CountingKeyValueStore extends HookedKeyValueStore<KeyValueStore> {
    private final Map<Family, Integer> reads = new EnumMap<>(Family.class);

    private int commits;

    public CountingKeyValueStore(KeyValueStore store) {
        super(store);
    }

    /** Number of records of a family that were looked up or scanned since {@link #reset}. */
    public int reads(Family family) {
        return reads.getOrDefault(family, 0);
    }

    public int commits() {
        return commits;
    }

    public void reset() {
        reads.clear();
    }

    @Override
    public byte[] get(Family family, byte[] key) throws IOException {
        reads.merge(family, 1, Integer::sum);
        return store.get(family, key);
    }

    @Override
    public Cursor scan(Family family, byte[] from, byte[] to) throws IOException {
        Cursor cursor = store.scan(family, from, to);
        return new Cursor() {
            @Override
            public boolean next() throws IOException {
                boolean found = cursor.next();
                reads.merge(family, found ? 1 : 0, Integer::sum);
                return found;
            }

            @Override
            public byte[] key() {
                return cursor.key();
            }

            @Override
            public byte[] value() {
                return cursor.value();
            }

            @Override
            public void close() {
                cursor.close();
            }
        };
    }

    @Override
    protected void commit(Batch batch) throws IOException {
        commits++;
        batch.commit();
    }

    @Override
    protected void commitLater(Batch batch) throws IOException {
        batch.commitLater();
    }
}
