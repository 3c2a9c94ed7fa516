package org.opendedup.sar.container;

import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.Bytes;
import org.opendedup.sar.container.format.ContainerWriting;
import org.opendedup.sar.container.format.FrameTable;

/**
 * The next generation of a container, in memory.
 *
 * @param from the present generation
 * @param recompressed as of {@link StoredContainer}
 * @param frameBytesBefore bytes of the frames in the present generation
 * @param savedBytes by how much frames that keep all their chunks are smaller
 * @param hasLost whether a chunk is lost
 */
record NextGeneration(
        ContainerWriting writing,
        StoredContainer from,
        FrameTable table,
        Bytes frames,
        Bytes chunkLists,
        long rawBytes,
        int recompressed,
        long frameBytesBefore,
        long savedBytes,
        boolean hasLost) {}
