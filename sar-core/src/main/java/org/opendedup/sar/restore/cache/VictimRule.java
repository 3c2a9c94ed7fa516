package org.opendedup.sar.restore.cache;

/**
 * Chooses the container that a {@link WholeContainerCache} evicts when it needs room; notified of references that enter
 * and leave the window.
 */
interface VictimRule {
    /** See {@link ContainerCache#windowBytes}. */
    long windowBytes();

    void entered(long chunkId);

    void left(long chunkId);

    /** Notes that a container was added to memory. */
    void added(int place);

    /** Returns the place of the container to evict. There is at least one. */
    int victim();

    long tableBytes();
}
