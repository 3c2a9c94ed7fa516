package org.opendedup.sar.common;

import java.util.Arrays;

/**
 * One stored chunk with its fingerprint and its reference count: SDFS's name for an indexed chunk, with the count that the SAR
 * paper's prototype gave it (SAR paper §4.1). Used at the edges, where a chunk is shown or reported; on the hot paths chunks lie
 * in struct-of-array batches. For one thread.
 */
public final class HashChunk {
    private final byte[] fingerprint;
    private final long chunkId;
    private final int length;
    private int count;

    /**
     * @param fingerprint {@value Fingerprints#BYTES} bytes; copied
     * @param chunkId the stored copy
     * @param length bytes before compression
     * @param count references to that copy
     */
    public HashChunk(byte[] fingerprint, long chunkId, int length, int count) {
        if (fingerprint.length != Fingerprints.BYTES) {
            throw new IllegalArgumentException(
                    "a fingerprint has " + Fingerprints.BYTES + " bytes, not " + fingerprint.length);
        }
        if (chunkId == ChunkId.NONE || length <= 0) {
            throw new IllegalArgumentException(
                    "a stored chunk has an id and bytes, not " + ChunkId.toString(chunkId) + " and " + length);
        }
        this.fingerprint = fingerprint.clone();
        this.chunkId = chunkId;
        this.length = length;
        setCount(count);
    }

    /** The fingerprint; a copy. */
    public byte[] getFingerprint() {
        return fingerprint.clone();
    }

    /** The fingerprint in hexadecimal. */
    public String getName() {
        return Fingerprints.toHex(fingerprint, 0);
    }

    public long getChunkId() {
        return chunkId;
    }

    /** Bytes before compression. */
    public int getLength() {
        return length;
    }

    /** References to the stored copy. */
    public int getCount() {
        return count;
    }

    /** @param count references to the stored copy, 0 or more */
    public void setCount(int count) {
        if (count < 0) {
            throw new IllegalArgumentException("a reference count is 0 or more, not " + count);
        }
        this.count = count;
    }

    /** Two are equal if they are the same copy of the same bytes, whatever their counts. */
    @Override
    public boolean equals(Object other) {
        return other instanceof HashChunk that
                && chunkId == that.chunkId
                && length == that.length
                && Arrays.equals(fingerprint, that.fingerprint);
    }

    @Override
    public int hashCode() {
        return Long.hashCode(chunkId);
    }

    @Override
    public String toString() {
        return getName() + " at " + ChunkId.toString(chunkId) + ", " + length + " bytes, " + count + " references";
    }
}
