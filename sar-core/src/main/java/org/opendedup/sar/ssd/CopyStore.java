package org.opendedup.sar.ssd;

/**
 * The copies that serve reads: the part of an attached SSD that the {@code DataDistributor} needs. Safe for use by many
 * threads.
 */
public interface CopyStore {
    /** Returns the number of copies; 0 means that looking for one is of no use. */
    int copies();

    /** Returns whether the Map table has an entry for the chunk. */
    boolean holds(long chunkId);

    /**
     * Reads the data of all chunks of a request whose source is SSD. Sets the source of chunks that can't be read to
     * their home.
     */
    void read(ChunkRequest request);

    /** Reads any data, to find out whether the SSD answers. */
    void probe();

    /** Removes a copy whose bytes differ from those written. */
    void dropDamaged(long chunkId);
}
