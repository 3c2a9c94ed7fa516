package org.opendedup.sar.collect;

/** Receives the progress of a collection, and may stop it. */
@FunctionalInterface
public interface CollectionProgress {
    /**
     * Receives how far the collection is. Called after each container.
     *
     * @param bytesDone stored bytes of the chosen containers that are handled
     * @param bytes stored bytes of all chosen containers; 0 while they are being chosen
     * @param returnedBytes bytes given back to the file system so far
     * @return whether to continue; what is done stays done
     */
    boolean collected(long bytesDone, long bytes, long returnedBytes);
}
