package org.opendedup.sar.sim.restore;

import com.carrotsearch.hppc.LongLongHashMap;
import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.ChunkId;

/**
 * Assigns homes to chunks: a new chunk is put into the open container, in the order of the stream; if it does not fit,
 * a new container is opened. A duplicate keeps its home. Sizes are those before compression.
 */
final class ContainerPacker {
    private final int containerBytes;
    /** By fingerprint. */
    private final LongLongHashMap homes = new LongLongHashMap();

    private final PackedContainers containers = new PackedContainers();
    private boolean sealed = true;

    /** @param containerBytes most bytes of chunks in a container */
    ContainerPacker(int containerBytes) {
        if (containerBytes < 1) {
            throw new IllegalArgumentException("a container has 1 byte or more, not " + containerBytes);
        }
        this.containerBytes = containerBytes;
    }

    /**
     * Returns the chunk id of a chunk of the stream; stores the chunk if it is new.
     *
     * @throws IllegalArgumentException if a new chunk is larger than a container, or has another length than before
     */
    public long put(long fingerprint, int bytes) {
        long chunkId = homes.getOrDefault(fingerprint, ChunkId.NONE);
        if (chunkId == ChunkId.NONE) {
            chunkId = store(bytes);
            homes.put(fingerprint, chunkId);
        } else if (containers.bytes(chunkId) != bytes) {
            throw new IllegalArgumentException(
                    "a chunk of this fingerprint had " + containers.bytes(chunkId) + " bytes before");
        }
        return chunkId;
    }

    private long store(int bytes) {
        if (bytes > containerBytes) {
            throw new IllegalArgumentException("a chunk of " + bytes + " bytes does not fit into a container of "
                    + ByteSize.exact(containerBytes));
        }
        long open = containers.count();
        if (sealed
                || containers.bytesOf(open) + bytes > containerBytes
                || containers.chunksOf(open) == ChunkId.MAX_SLOTS) {
            containers.add();
            sealed = false;
        }
        return containers.append(bytes);
    }

    /** Seals the open container, as the end of a backup does: the next new chunk opens another. */
    void seal() {
        sealed = true;
    }

    public PackedContainers containers() {
        return containers;
    }
}
