package org.opendedup.sar.tier;

/** The copies that reads are served from: what the {@link DataDistributor} needs of an attached SSD. Safe for use by many threads. */
public interface CopyStore {
    /** Copies it has; 0 means that asking for one is of no use. */
    int copies();

    /** Whether the Map table has an entry for the chunk. */
    boolean holds(long chunkId);

    /** Sets the data of all chunks of a request whose source is SSD; what can't be had has its home as source afterwards. */
    void read(ChunkRequest request);

    /** Reads anything, to see whether it answers. */
    void probe();

    /** Drops a copy that is not what was written. */
    void dropDamaged(long chunkId);
}
