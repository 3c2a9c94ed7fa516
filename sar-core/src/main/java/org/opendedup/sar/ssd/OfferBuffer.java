package org.opendedup.sar.ssd;

/** Chunks on their way to the SSD, with their bytes. A struct of arrays of fixed size, reused. Not thread-safe. */
final class OfferBuffer {
    /** Bytes per chunk for which the arrays are sized: if chunks are shorter on average, the arrays are full first. */
    private static final int BYTES_PER_CHUNK = 512;

    private final byte[] data;
    private final long[] chunkIds;
    private final int[] fingerprintPrefixes;
    private final int[] counts;
    private final int[] savings;
    private final byte[] tags;
    private final int[] ends;

    private int count;

    OfferBuffer(int bytes) {
        int chunks = mostChunks(bytes);
        data = new byte[bytes];
        chunkIds = new long[chunks];
        fingerprintPrefixes = new int[chunks];
        counts = new int[chunks];
        savings = new int[chunks];
        tags = new byte[chunks];
        ends = new int[chunks];
    }

    /** Returns the largest number of chunks in a buffer of this many bytes. */
    static int mostChunks(int bytes) {
        return Integer.highestOneBit(bytes / BYTES_PER_CHUNK);
    }

    /** Adds a chunk and copies its bytes; returns false if there is no room. */
    boolean add(
            long chunkId,
            int fingerprintPrefix,
            int references,
            int saving,
            int tag,
            byte[] source,
            int offset,
            int length) {
        int start = bytes();
        if (count == chunkIds.length || data.length - start < length) {
            return false;
        }
        System.arraycopy(source, offset, data, start, length);
        chunkIds[count] = chunkId;
        fingerprintPrefixes[count] = fingerprintPrefix;
        counts[count] = references;
        savings[count] = saving;
        tags[count] = (byte) tag;
        ends[count] = start + length;
        count++;
        return true;
    }

    void clear() {
        count = 0;
    }

    int count() {
        return count;
    }

    /** Returns the bytes of all chunks. */
    int bytes() {
        return count == 0 ? 0 : ends[count - 1];
    }

    byte[] data() {
        return data;
    }

    long chunkId(int i) {
        return chunkIds[i];
    }

    int fingerprintPrefix(int i) {
        return fingerprintPrefixes[i];
    }

    int references(int i) {
        return counts[i];
    }

    int saving(int i) {
        return savings[i];
    }

    int tag(int i) {
        return tags[i];
    }

    int offset(int i) {
        return i == 0 ? 0 : ends[i - 1];
    }

    int length(int i) {
        return ends[i] - offset(i);
    }
}
