package org.opendedup.sar.sim.index;

import com.carrotsearch.hppc.LongIntHashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The containers of 4 MiB that new chunks go to in the order of their arrival, and a cache of the fingerprints of some
 * of them (LRU), as DDFS and ChunkStash have it. Each content is in one container.
 */
final class StoredContainers {
    static final int CONTAINER_BYTES = 4 << 20;
    /** Bytes of a fingerprint and an id among those of a container. */
    static final int ENTRY_BYTES = 40;

    private final LongIntHashMap containers = new LongIntHashMap();
    private final Map<Integer, Boolean> cached;
    private int open = 1;
    private int openBytes;

    /** @param cachedContainers containers whose fingerprints are in memory, in addition to the open one */
    StoredContainers(int cachedContainers) {
        cached = new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Integer, Boolean> eldest) {
                return size() > cachedContainers;
            }
        };
    }

    /** Returns the container of a content; 0 if it is not stored. */
    int of(long key) {
        return containers.getOrDefault(key, 0);
    }

    /** Returns whether the fingerprints of a container are in memory; it then counts as used. */
    boolean isCached(int container) {
        return container == open || cached.get(container) != null;
    }

    /** Reads the fingerprints of a container into the cache. */
    void cache(int container) {
        cached.put(container, true);
    }

    void add(long key, int length) {
        if (openBytes + length > CONTAINER_BYTES && openBytes > 0) {
            cache(open);
            open++;
            openBytes = 0;
        }
        openBytes += length;
        containers.put(key, open);
    }

    /** Returns the number of stored chunks. */
    int chunks() {
        return containers.size();
    }

    /** Returns the bytes of the fingerprints of a container, on average. */
    int entryBytes() {
        return chunks() / open * ENTRY_BYTES;
    }

    /** Returns the memory of the cache, in bytes. */
    long cacheBytes() {
        return (long) cached.size() * entryBytes();
    }
}
