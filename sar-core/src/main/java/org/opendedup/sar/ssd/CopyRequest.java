package org.opendedup.sar.ssd;

/** Some chunks of a reader, by number, of which the {@link SsdStore} is to find those that are wanted from it. For one thread at a time. */
public interface CopyRequest {
    /** Number of chunks. */
    int count();

    /** Whether a chunk is to come from the SSD. */
    boolean isFromSsd(int i);

    long chunkId(int i);

    /** How many of its bytes are needed, from its first one on. */
    int length(int i);

    /** First bytes of its fingerprint, see {@link org.opendedup.sar.common.Fingerprints#check}. */
    int check(int i);

    /** Sets where all {@code length} bytes of the chunk lie. */
    void setData(int i, byte[] bytes, int offset, int length);

    /** There is no copy of it, or it can't be had: it is to be read from its container. */
    void sendHome(int i);
}
