package org.opendedup.sar.index.rocksdb;

import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;

/**
 * The fingerprints of the containers that are being filled. Bounded: the least recently used container is dropped
 * first. It then gets no 'D' record, and lookups in it are slower. Not thread-safe.
 */
final class OpenContainers {
    /** Maximum number of containers: more than there are write streams. Usually 17 KiB each, so 1 MiB. */
    private static final int MAX_CONTAINERS = 64;

    private final Map<Long, ContainerFingerprints> containers = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, ContainerFingerprints> eldest) {
            return size() > MAX_CONTAINERS;
        }
    };

    /** The container of the last chunk, kept to avoid a map lookup: the next chunk is usually in the same container. */
    private long lastContainer;

    private @Nullable ContainerFingerprints last;

    void add(byte[] fingerprints, int offset, long chunkId) {
        long container = ChunkId.container(chunkId);
        if (last == null || container != lastContainer) {
            last = containers.computeIfAbsent(container, unused -> new ContainerFingerprints());
            lastContainer = container;
        }
        last.add(ChunkId.slot(chunkId), fingerprints, offset);
    }

    /** Removes a fingerprint of {@code chunkId}, if it was added. */
    void strike(byte[] fingerprints, int offset, long chunkId) {
        ContainerFingerprints container = containers.get(ChunkId.container(chunkId));
        if (container != null) {
            container.strike(ChunkId.slot(chunkId), fingerprints, offset);
        }
    }

    /**
     * Removes the fingerprints of these slots of a container, and returns the slots whose fingerprints were added. Slot
     * {@code i}'s fingerprint begins at {@code i * Fingerprints.BYTES}.
     */
    BitSet strike(long container, byte[] fingerprints, BitSet slots) {
        ContainerFingerprints entries = containers.get(container);
        return entries == null ? new BitSet() : entries.strike(fingerprints, slots);
    }

    void clear() {
        last = null;
        containers.clear();
    }

    /** Removes and returns a container's fingerprints; null if there are none. */
    @Nullable
    ContainerFingerprints remove(long container) {
        if (container == lastContainer) {
            last = null;
        }
        return containers.remove(container);
    }
}
