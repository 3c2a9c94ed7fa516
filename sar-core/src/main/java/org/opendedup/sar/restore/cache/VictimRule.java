package org.opendedup.sar.restore.cache;

/** Which container a {@link WholeContainerCache} gives up when it needs room; told what enters and leaves the window. */
interface VictimRule {
    /** As of {@link ContainerCache#windowBytes}. */
    long windowBytes();

    void entered(long chunkId);

    void left(long chunkId);

    /** A container is in memory from now on. */
    void added(int place);

    /** The place of the container to give up. There is at least one. */
    int victim();

    long tableBytes();
}
