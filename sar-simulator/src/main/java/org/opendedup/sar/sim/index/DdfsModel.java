package org.opendedup.sar.sim.index;

import java.util.BitSet;

/**
 * DDFS (Zhu et al., FAST 2008): a Bloom filter of one byte a chunk tells most new chunks; the fingerprints of the
 * containers used last are in memory; the rest is on the disk, where finding one takes a read of the index, and a read
 * of its container's fingerprints. Exact.
 */
final class DdfsModel extends IndexModel {
    private static final int FILTER_BITS = 8;
    private static final int HASHES = 4;
    private static final int PAGE_BYTES = 4096;

    private final StoredContainers containers;
    private final BitSet filter = new BitSet();
    private final long bits;

    /**
     * @param expectedChunks chunks that the filter is made for
     * @param cachedContainers see {@link StoredContainers}
     */
    DdfsModel(long expectedChunks, int cachedContainers) {
        containers = new StoredContainers(cachedContainers);
        bits = Math.max(64, Math.min(Integer.MAX_VALUE, expectedChunks * FILTER_BITS));
    }

    @Override
    void store(TraceSegment segment) {
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            long key = segment.key(chunk);
            int container = containers.of(key);
            if (container != 0 && containers.isCached(container)) {
                found(segment.length(chunk));
                continue;
            }
            if (mayHave(key)) {
                read(PAGE_BYTES);
                if (container != 0) {
                    read(containers.entryBytes());
                    containers.cache(container);
                    found(segment.length(chunk));
                    continue;
                }
            }
            for (int hash = 0; hash < HASHES; hash++) {
                filter.set(bit(key, hash));
            }
            containers.add(key, segment.length(chunk));
        }
    }

    private boolean mayHave(long key) {
        for (int hash = 0; hash < HASHES; hash++) {
            if (!filter.get(bit(key, hash))) {
                return false;
            }
        }
        return true;
    }

    private int bit(long key, int hash) {
        return (int) Long.remainderUnsigned(TraceSegment.mixed(key + hash), bits);
    }

    @Override
    long indexBytes() {
        return bits / Byte.SIZE;
    }

    @Override
    long cacheBytes() {
        return containers.cacheBytes();
    }
}
