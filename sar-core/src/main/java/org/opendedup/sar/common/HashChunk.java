package org.opendedup.sar.common;

/**
 * One stored chunk with its reference count. The name is SDFS's for an indexed chunk; the count is that of the SAR
 * paper's prototype (SAR paper §4.1). Used where a chunk is shown to a user or another program. On the hot paths,
 * chunks are in struct-of-array batches, and their counts in the metadata. For one thread.
 */
public final class HashChunk {
    private final long chunkId;
    private final int fingerprintPrefix;
    private final int length;
    private int count;

    /**
     * @param chunkId the id of the stored copy
     * @param fingerprintPrefix first bytes of its fingerprint, as a recipe stores them; see
     *     {@link Fingerprints#fingerprintPrefix}
     * @param length bytes before compression
     * @param count references to that copy, 0 or more
     */
    public HashChunk(long chunkId, int fingerprintPrefix, int length, int count) {
        if (chunkId == ChunkId.NONE || length <= 0) {
            throw new IllegalArgumentException(
                    "a stored chunk has an id and bytes, not " + ChunkId.toString(chunkId) + " and " + length);
        }
        this.chunkId = chunkId;
        this.fingerprintPrefix = fingerprintPrefix;
        this.length = length;
        setCount(count);
    }

    public long getChunkId() {
        return chunkId;
    }

    /** Returns the beginning of the fingerprint in hexadecimal. */
    public String getName() {
        return String.format("%08x", Integer.reverseBytes(fingerprintPrefix));
    }

    /** Returns the length in bytes before compression. */
    public int getLength() {
        return length;
    }

    /** Returns the number of references to the stored copy. */
    public int getCount() {
        return count;
    }

    /** @param count number of references to the stored copy, 0 or more */
    public void setCount(int count) {
        if (count < 0) {
            throw new IllegalArgumentException("a reference count is 0 or more, not " + count);
        }
        this.count = count;
    }

    /** Returns whether both are the same copy of the same bytes; their counts may differ. */
    @Override
    public boolean equals(Object other) {
        return other instanceof HashChunk that
                && chunkId == that.chunkId
                && fingerprintPrefix == that.fingerprintPrefix
                && length == that.length;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(chunkId);
    }

    @Override
    public String toString() {
        return getName() + "… at " + ChunkId.toString(chunkId) + ", " + length + " bytes, " + count + " references";
    }
}
