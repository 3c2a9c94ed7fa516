package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;

/** A key-value store that counts the records read, by family, and the durable commits. For one thread. */
final class CountingKeyValueStore implements KeyValueStore {
    private final KeyValueStore store;
    private final Map<Family, Integer> reads = new EnumMap<>(Family.class);

    private int commits;

    CountingKeyValueStore(KeyValueStore store) {
        this.store = store;
    }

    /** Number of records of a family that were looked up or scanned since {@link #reset}. */
    int reads(Family family) {
        return reads.getOrDefault(family, 0);
    }

    int commits() {
        return commits;
    }

    void reset() {
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
    public Batch batch() throws IOException {
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
                commits++;
                batch.commit();
            }

            @Override
            public void commitLater() throws IOException {
                batch.commitLater();
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
