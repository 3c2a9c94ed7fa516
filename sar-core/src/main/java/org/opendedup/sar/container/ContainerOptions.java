package org.opendedup.sar.container;

import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.FrameFormat;

/**
 * Settings for how a {@link ContainerStore} writes.
 *
 * @param compression compression of new frames; the header of a stored frame names its own codec
 * @param containerBytes size at which a container is sealed, in compressed bytes of frames;
 *     {@link ContainerSize#FULL_BYTES} in a volume. A container may exceed it slightly
 * @param maxChunksPerContainer number of slots at which a container is sealed in any case; usually 16384, at most
 *     {@link ChunkId#MAX_SLOTS}
 * @param maxOpenContainers number of containers written at a time, that is, of streams kept apart; usually 8
 * @param maxBytesInFlight bound on the chunk bytes of frames that wait for compression or the disk; appends wait at the
 *     bound. Memory use is about twice this bound plus one frame for each open container
 * @param cipher that of the volume, {@link ContainerCipher#NONE} if it is not encrypted
 */
public record ContainerOptions(
        Compression compression,
        int containerBytes,
        int maxChunksPerContainer,
        int maxOpenContainers,
        long maxBytesInFlight,
        ContainerCipher cipher) {

    /** Packs that stay open for reading when nobody reads them. */
    public static final int MOST_CACHED_PACKS = 256;

    /** Largest container size, in bytes: the offsets in a frame table are {@code int}. */
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
