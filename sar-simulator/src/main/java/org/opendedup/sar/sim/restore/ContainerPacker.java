package org.opendedup.sar.sim.restore;

import org.opendedup.sar.common.ByteSize;
import org.opendedup.sar.common.ChunkId;

/**
 * Gives chunks their homes: a new one goes into the open container, in the order of the stream; when it does not fit there, a new
 * container is opened. What was seen before keeps its home. Sizes are those before compression.
 */
public final class ContainerPacker {
    private final int containerBytes;
    private final FingerprintTable homes = new FingerprintTable();
    private final PackedContainers containers = new PackedContainers();
    private boolean sealed = true;

    /** @param containerBytes the most bytes of chunks in a container */
    public ContainerPacker(int containerBytes) {
        if (containerBytes < 1) {
            throw new IllegalArgumentException("a container has 1 byte or more, not " + containerBytes);
        }
        this.containerBytes = containerBytes;
    }

    /**
     * The chunk id of a chunk of the stream, stored or seen before.
     *
     * @throws IllegalArgumentException if a new chunk is larger than a container, or has another length than before
     */
    public long put(long fingerprint, int bytes) {
        long chunkId = homes.get(fingerprint);
        if (chunkId == ChunkId.NONE) {
            chunkId = store(bytes);
            homes.add(fingerprint, chunkId);
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
