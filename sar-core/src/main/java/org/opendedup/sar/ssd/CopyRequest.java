package org.opendedup.sar.ssd;

/** A reader's chunks, by index; {@link SsdStore} reads those requested from it. For use by one thread at a time. */
public interface CopyRequest {
    /** Returns the number of chunks. */
    int count();

    /** Returns whether a chunk must be read from the SSD. */
    boolean isFromSsd(int i);

    long chunkId(int i);

    /** Returns how many bytes of the chunk are needed, from its first byte on. */
    int length(int i);

    /**
     * Returns the first bytes of its fingerprint, see {@link org.opendedup.sar.common.Fingerprints#fingerprintPrefix}.
     */
    int fingerprintPrefix(int i);

    /** Sets the array that holds all {@code length} bytes of the chunk. */
    void setData(int i, byte[] bytes, int offset, int length);

    /** Marks a chunk as to be read from its container: it has no copy, or the copy can't be read. */
    void sendHome(int i);
}
