package org.opendedup.sar.hot.copies;

import org.opendedup.sar.ssd.ChunkRequest;

/**
 * Receives the stored chunks that are written again and read, from the code that has their bytes in memory. Never
 * waits.
 */
public interface AccessListener {
    /** Returns whether notifying it is of any use now. */
    boolean isActive();

    /** Counts written duplicates that cannot be reported, with the reason. */
    void onDuplicatesMissed(int duplicates, Refusal why);

    /** Returns the run length, in bytes, from which a run counts as long, whatever else belongs to it. */
    default long longRunBytes() {
        return Long.MAX_VALUE;
    }

    /**
     * Notes that bytes {@code from} to {@code to} (exclusive) of a file were stored, with duplicates, but their run may
     * continue after {@code to}. They can be judged later, by the recipe.
     */
    default void onRunUnfinished(long inode, long from, long to) {}

    /**
     * Notes that duplicates were written. Each has its chunk id, whole length, current references, data, and the bytes
     * of its run in the file.
     *
     * @param inode the file
     */
    void onDuplicatesWritten(long inode, ChunkRequest duplicates);

    /**
     * Notes that chunks were read: those with data, from their {@link org.opendedup.sar.ssd.Source}. Each read of a
     * chunk is noted once, whatever it was answered from.
     */
    void onChunksRead(ChunkRequest request, CountSource counts);
}
