package org.opendedup.sar.arrange;

/** Receives the progress of an arrangement, and may stop it. */
@FunctionalInterface
public interface ArrangementProgress {
    /**
     * Receives how far the arrangement is. Called some times a second.
     *
     * @param bytesDone bytes of the files whose recipes were read: the newest files to choose chunks, all files to
     *     replace references
     * @param bytes all bytes for which that is planned now; more if there are many chunks to move
     * @return whether to continue; what is moved stays moved
     */
    boolean arranged(long bytesDone, long bytes);
}
