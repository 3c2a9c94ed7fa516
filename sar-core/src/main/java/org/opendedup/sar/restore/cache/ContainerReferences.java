package org.opendedup.sar.restore.cache;

/**
 * How many references to each container the window has: the lookahead paper's hot data identification (§3.4). Implementations count
 * exactly or roughly.
 */
interface ContainerReferences {
    void add(long container);

    /** Takes off a reference that was added. */
    void remove(long container);

    int count(long container);

    long heapBytes();
}
