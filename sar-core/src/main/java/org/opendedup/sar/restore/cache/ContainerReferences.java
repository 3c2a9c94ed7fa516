package org.opendedup.sar.restore.cache;

/**
 * Counts the references to each container in the window: the lookahead paper's hot data identification (§3.4).
 * Implementations count exactly or approximately.
 */
interface ContainerReferences {
    void add(long container);

    /** Removes a reference that was added. */
    void remove(long container);

    int count(long container);

    long heapBytes();
}
