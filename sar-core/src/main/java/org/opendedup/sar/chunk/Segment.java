package org.opendedup.sar.chunk;

import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Fingerprints;

/**
 * Consecutive chunks of one stream, about two MiB: the unit that the write path fingerprints, looks up and stores. A
 * struct of arrays, filled step by step by the ingest pipeline and used again for the next segment; chunk {@code i} is
 * {@code data[offset(i) .. offset(i) + length(i))}. Not thread-safe, except that different chunks may be fingerprinted by
 * different threads.
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

    /** @param bytes the most bytes a segment of this size can hold */
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

    /** The bytes the chunks lie in. The caller fills them, from 0, before it adds chunks. */
    public byte[] data() {
        return data;
    }

    /** Forgets all chunks. */
    public void clear() {
        count = 0;
    }

    /** Forgets all chunks from number {@code chunks} on. */
    public void truncate(int chunks) {
        assert chunks <= count;
        count = chunks;
    }

    /** Adds the next chunk; {@code zero} says that all its bytes are zero: it is then a length, never looked up or stored. */
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

    /** Number of chunks. */
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

    /** All fingerprints, one behind the other; chunk {@code i}'s begins at {@link #fingerprintOffset}. */
    public byte[] fingerprints() {
        return fingerprints;
    }

    public static int fingerprintOffset(int chunk) {
        return chunk * Fingerprints.BYTES;
    }

    /** The stored copy the chunk is to refer to: after the lookup a hint or {@link ChunkId#NONE}, after the append final. */
    public long chunkId(int chunk) {
        return chunkIds[chunk];
    }

    public void setChunkId(int chunk, long chunkId) {
        chunkIds[chunk] = chunkId;
    }

    /** What the index answered for the chunk: kept beside the final id, as the copy that a fresh chunk takes the place of. */
    public long hint(int chunk) {
        return hints[chunk];
    }

    /** Sets the hint, and {@link #chunkId} to it. */
    public void setHint(int chunk, long chunkId) {
        hints[chunk] = chunkId;
        chunkIds[chunk] = chunkId;
    }

    /** Whether the chunk was stored anew for this segment (its fingerprint is still to go into the index). */
    public boolean isFresh(int chunk) {
        return fresh[chunk];
    }

    public void setFresh(int chunk, boolean fresh) {
        this.fresh[chunk] = fresh;
    }
}
