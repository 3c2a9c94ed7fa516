package org.opendedup.sar.restore.fragmentation;

import org.opendedup.sar.disk.DiskModel;

/**
 * How a file's chunks are spread over containers, and what a disk does to read it in sequence with cold caches. Holes
 * and zero runs cost nothing and are not included.
 *
 * @param bytes bytes of the file that are stored in chunks
 * @param references number of references to chunks, repeated ones included
 * @param uniqueBytes bytes of the different chunks among them
 * @param storedBytes bytes of these in their containers, compressed
 * @param containers number of different containers that the file wants
 * @param meanUse mean of the containers' use: the share of a container's bytes that the file wants (HAR, ATC '14, §3)
 * @param sparseContainers number of containers used below {@link #SPARSE_USE}
 * @param containerReads number of container reads, if data stays in memory for a window of the file after it was read
 * @param requests number of disk requests for these reads: ranges of packs; near ones are joined where that is cheaper,
 *     also across the borders of containers
 * @param diskBytes bytes of these requests
 */
public record FileFragmentation(
        long bytes,
        long references,
        long uniqueBytes,
        long storedBytes,
        long containers,
        double meanUse,
        long sparseContainers,
        long containerReads,
        long requests,
        long diskBytes) {
    /** HAR's criterion: a container used less than this share is sparse, and its chunks are worth rewriting. */
    public static final double SPARSE_USE = 0.5;

    private static final double MIB = 1 << 20;

    /** MiB restored for each container read (Lillibridge et al., FAST '13); 0 for a file without chunks. */
    public double speedFactor() {
        return containerReads == 0 ? 0 : bytes / MIB / containerReads;
    }

    /** Share of the wanted containers that are sparse. */
    public double sparseShare() {
        return containers == 0 ? 0 : (double) sparseContainers / containers;
    }

    /** Predicted time of the disk, in seconds. */
    public double seconds(DiskModel disk) {
        return disk.seconds(requests, diskBytes);
    }

    /** Predicted bytes of the file a second; 0 for a file without chunks. */
    public double bytesPerSecond(DiskModel disk) {
        return requests == 0 ? 0 : bytes / seconds(disk);
    }
}
