package org.opendedup.sar.metadata.db;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/** A key-value store in sorted maps in memory, the model for tests. Durable only until the process ends. */
public final class HeapKeyValueStore implements KeyValueStore {
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    /** Guarded by {@link #lock}. */
    private final Map<Family, NavigableMap<byte[], byte[]>> families = new EnumMap<>(Family.class);

    public HeapKeyValueStore() {
        for (Family family : Family.values()) {
            families.put(family, new TreeMap<>(Arrays::compareUnsigned));
        }
    }

    @Override
    public byte @Nullable [] get(Family family, byte[] key) {
        lock.readLock().lock();
        try {
            byte[] value = family(family).get(key);
            return value == null ? null : value.clone();
        } finally {
            lock.readLock().unlock();
        }
    }

    @Override
    public Cursor scan(Family family, byte[] from, byte[] to) {
        lock.readLock().lock();
        try {
            return new MapCursor(new TreeMap<>(family(family).subMap(from, to)));
        } finally {
            lock.readLock().unlock();
        }
    }

    @Override
    public Batch batch() {
        return new HeapBatch();
    }

    @Override
    public void close() {}

    private NavigableMap<byte[], byte[]> family(Family family) {
        return Objects.requireNonNull(families.get(family));
    }

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Change(Family family, byte[] key, byte @Nullable [] value) {}

    private final class HeapBatch implements Batch {
        private final List<Change> changes = new ArrayList<>();

        @Override
        public void put(Family family, byte[] key, byte[] value) {
            changes.add(new Change(family, key.clone(), value.clone()));
        }

        @Override
        public void delete(Family family, byte[] key) {
            changes.add(new Change(family, key.clone(), null));
        }

        @Override
        public void commit() {
            lock.writeLock().lock();
            try {
                for (Change change : changes) {
                    if (change.value == null) {
                        family(change.family).remove(change.key);
                    } else {
                        family(change.family).put(change.key, change.value);
                    }
                }
            } finally {
                lock.writeLock().unlock();
            }
        }

        @Override
        public void close() {}
    }
}
