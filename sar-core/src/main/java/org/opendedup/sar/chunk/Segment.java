package org.opendedup.sar.chunk;

import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;

/**
 * Consecutive chunks of one stream, or whole small files, about 2 MiB: the unit that the write path fingerprints, looks
 * up and stores. A struct of arrays, which the ingest pipeline fills step by step and reuses for the next segment.
 * Chunk {@code i} is {@code data[offset(i) .. offset(i) + length(i))}. Not thread-safe, except that different threads
 * may fingerprint different chunks.
 */
public final class Segment {
    private final byte[] data;
    private int count;
    private int[] offsets;
    private int[] lengths;
    private boolean[] zero;
    private byte[] fingerprints;
    private long[] chunkIds;
    private long[] hints;
    private boolean[] fresh;

    /** @param bytes capacity of the segment, in bytes */
    public Segment(int bytes) {
        data = new byte[bytes];
        int chunks = Math.max(16, bytes / 4096);
        offsets = new int[chunks];
        lengths = new int[chunks];
        zero = new boolean[chunks];
        fingerprints = new byte[chunks * Fingerprints.BYTES];
        chunkIds = new long[chunks];
        hints = new long[chunks];
        fresh = new boolean[chunks];
    }

    /** Returns the buffer that holds the chunks' bytes. The caller fills it, from 0, and then adds chunks. */
    public byte[] data() {
        return data;
    }

    /** Removes all chunks. */
    public void clear() {
        count = 0;
    }

    /** Removes all chunks from number {@code chunks} on. */
    public void truncate(int chunks) {
        assert chunks <= count;
        count = chunks;
    }

    /**
     * Adds the next chunk.
     *
     * @param zero whether all its bytes are zero; only its length is kept then, and it is never looked up or stored
     */
    public void add(int offset, int length, boolean zero) {
        if (count == offsets.length) {
            grow();
        }
        offsets[count] = offset;
        lengths[count] = length;
        this.zero[count] = zero;
        chunkIds[count] = ChunkId.NONE;
        hints[count] = ChunkId.NONE;
        fresh[count] = false;
        count++;
    }

    private void grow() {
        int chunks = offsets.length * 2;
        offsets = Arrays.copyOf(offsets, chunks);
        lengths = Arrays.copyOf(lengths, chunks);
        zero = Arrays.copyOf(zero, chunks);
        fingerprints = Arrays.copyOf(fingerprints, chunks * Fingerprints.BYTES);
        chunkIds = Arrays.copyOf(chunkIds, chunks);
        hints = Arrays.copyOf(hints, chunks);
        fresh = Arrays.copyOf(fresh, chunks);
    }

    /** Returns the number of chunks. */
    public int count() {
        return count;
    }

    public int offset(int chunk) {
        return offsets[chunk];
    }

    public int length(int chunk) {
        return lengths[chunk];
    }

    public boolean isZero(int chunk) {
        return zero[chunk];
    }

    /** Returns all fingerprints, one after the other; that of chunk {@code i} begins at {@link #fingerprintOffset}. */
    public byte[] fingerprints() {
        return fingerprints;
    }

    public static int fingerprintOffset(int chunk) {
        return chunk * Fingerprints.BYTES;
    }

    /**
     * Returns the stored copy that the chunk refers to: after the lookup a hint or {@link ChunkId#NONE}, after the
     * append the final id.
     */
    public long chunkId(int chunk) {
        return chunkIds[chunk];
    }

    public void setChunkId(int chunk, long chunkId) {
        chunkIds[chunk] = chunkId;
    }

    /**
     * Returns the index's answer for the chunk. It is kept in addition to the final id: it is the copy that a fresh
     * chunk replaces.
     */
    public long hint(int chunk) {
        return hints[chunk];
    }

    /** Sets the hint, and sets {@link #chunkId} to it. */
    public void setHint(int chunk, long chunkId) {
        hints[chunk] = chunkId;
        chunkIds[chunk] = chunkId;
    }

    /**
     * Returns whether this segment stored a new copy of the chunk (its fingerprint must still be inserted into the
     * index).
     */
    public boolean isFresh(int chunk) {
        return fresh[chunk];
    }

    public void setFresh(int chunk, boolean fresh) {
        this.fresh[chunk] = fresh;
    }
}
