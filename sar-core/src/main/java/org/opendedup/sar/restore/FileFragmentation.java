package org.opendedup.sar.restore;

/**
 * How a file's chunks are spread over containers, and what a disk does to read it in sequence from cold caches. Holes and zero
 * runs cost nothing and are not in it.
 *
 * @param bytes bytes of the file that chunks give
 * @param references references to chunks, each as often as the file has it
 * @param uniqueBytes bytes of the different chunks among them
 * @param storedBytes what these take in their containers, compressed
 * @param containers different containers that it wants
 * @param meanUse mean of the containers' use: the share of a container's bytes that the file wants (HAR, ATC '14, §3)
 * @param sparseContainers containers used below {@link #SPARSE_USE}
 * @param containerReads how often a container is read, if what was read stays in memory for a window of the file
 * @param requests what the disk is asked for then: ranges of containers, near ones joined where that is cheaper
 * @param diskBytes bytes of these
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
    /** HAR's criterion: a container used less than that is sparse, and its chunks are worth rewriting. */
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

    /** Predicted time of the disk. */
    public double seconds(DiskModel disk) {
        return disk.seconds(requests, diskBytes);
    }

    /** Predicted bytes of the file a second; 0 for a file without chunks. */
    public double bytesPerSecond(DiskModel disk) {
        return requests == 0 ? 0 : bytes / seconds(disk);
    }
}
