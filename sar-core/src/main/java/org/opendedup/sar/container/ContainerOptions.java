package org.opendedup.sar.container;

import org.opendedup.sar.common.ChunkId;

/**
 * How a {@link ContainerStore} writes.
 *
 * @param compression of new frames; stored frames say themselves how they are to be read
 * @param containerBytes compressed bytes of frames at which a container is sealed: about 4 MiB. Reached, not kept exactly
 * @param maxChunksPerContainer slots at which it is sealed in any case, at most {@link ChunkId#MAX_SLOTS}: 16384
 * @param maxOpenContainers containers written at a time, that is, streams kept apart: 8
 * @param maxBytesInFlight chunk bytes of frames waiting for compression or the disk; an append waits above it. Memory use is
 *     about twice this and one frame for each open container
 */
public record ContainerOptions(
        Compression compression,
        int containerBytes,
        int maxChunksPerContainer,
        int maxOpenContainers,
        long maxBytesInFlight) {

    /** Larger containers than this would cost the offsets in a frame table their {@code int}. */
    static final int MAX_CONTAINER_BYTES = 1 << 30;

    public ContainerOptions {
        require(
                compression.frameBytes() > 0 && compression.frameBytes() <= FrameFormat.MAX_RAW_BYTES,
                "frameBytes must be 1 to " + FrameFormat.MAX_RAW_BYTES + ", not " + compression.frameBytes());
        require(
                containerBytes > 0 && containerBytes <= MAX_CONTAINER_BYTES,
                "containerBytes must be 1 to " + MAX_CONTAINER_BYTES + ", not " + containerBytes);
        require(
                maxChunksPerContainer > 0 && maxChunksPerContainer <= ChunkId.MAX_SLOTS,
                "maxChunksPerContainer must be 1 to " + ChunkId.MAX_SLOTS + ", not " + maxChunksPerContainer);
        require(maxOpenContainers > 0, "maxOpenContainers must be 1 or more, not " + maxOpenContainers);
        require(maxBytesInFlight > 0, "maxBytesInFlight must be 1 or more, not " + maxBytesInFlight);
    }

    private static void require(boolean holds, String message) {
        if (!holds) {
            throw new IllegalArgumentException(message);
        }
    }
}
