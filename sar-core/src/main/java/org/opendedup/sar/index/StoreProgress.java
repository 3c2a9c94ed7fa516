package org.opendedup.sar.index;

/** Receives how far an index is stored in its home, and may stop that. */
@FunctionalInterface
public interface StoreProgress {
    /** For callers that show no progress, and never stop. */
    StoreProgress NONE = (bytes, of) -> true;

    /**
     * Receives how far it is. Called once a mebibyte or more often.
     *
     * @param bytes bytes written
     * @param of bytes that are new
     * @return whether to continue; if not, the home stays as it was
     */
    boolean stored(long bytes, long of);
}
