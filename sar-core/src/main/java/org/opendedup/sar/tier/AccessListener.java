package org.opendedup.sar.tier;

/** Told of the stored chunks that are written again and read, by the paths that have their bytes in hand. Never waits. */
public interface AccessListener {
    /** Whether telling is of any use now. */
    boolean isActive();

    /**
     * Duplicates were written: chunk ids, whole lengths, references by now, data.
     *
     * @param inode the file
     */
    void written(long inode, ChunkRequest duplicates);

    /** Chunks were read; those with HOME as source and data were read from the disk by this request. */
    void read(ChunkRequest request, CountSource counts);
}
