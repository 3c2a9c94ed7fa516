package org.opendedup.sar.ssd;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkHash;

/**
 * The stored chunks that one request writes again or reads, in file order, repeated as often as they are referenced,
 * without zero runs. A struct of arrays that is reused for the next request. For use by one thread at a time.
 */
public final class ChunkRequest {
    private static final int CHUNKS = 64;

    private int count;
    private long[] chunkIds = new long[CHUNKS];
    private int[] lengths = new int[CHUNKS];
    private int[] fingerprintPrefixes = new int[CHUNKS];
    private int[] frames = new int[CHUNKS];
    private int[] references = new int[CHUNKS];
    private long[] runBytes = new long[CHUNKS];
    private Source[] sources = new Source[CHUNKS];
    private byte[] @Nullable [] data = new byte[CHUNKS][];
    private int[] offsets = new int[CHUNKS];

    /** Hash table by chunk id: number of the chunk's first occurrence plus one; 0 where a place is free. */
    private int[] firsts = new int[2 * CHUNKS];
    /** Chunks of the request that are in {@link #firsts}. */
    private int indexed;

    /** Removes all chunks. */
    public void clear() {
        Arrays.fill(data, 0, count, null);
        count = 0;
        clearIndex();
    }

    /**
     * Adds the next chunk, with its home as source.
     *
     * @param length on the read path, the bytes needed from the start of the chunk; on the write path, all its bytes
     * @param fingerprintPrefix first bytes of its fingerprint, see
     *     {@link org.opendedup.sar.common.Fingerprints#fingerprintPrefix}
     * @param frame number of the frame in the container that holds it; -1 while unknown
     */
    public void add(long chunkId, int length, int fingerprintPrefix, int frame) {
        if (count == chunkIds.length) {
            grow();
        }
        chunkIds[count] = chunkId;
        lengths[count] = length;
        fingerprintPrefixes[count] = fingerprintPrefix;
        frames[count] = frame;
        references[count] = 0;
        runBytes[count] = 0;
        sources[count] = Source.HOME;
        count++;
    }

    private void grow() {
        int chunks = chunkIds.length * 2;
        chunkIds = Arrays.copyOf(chunkIds, chunks);
        lengths = Arrays.copyOf(lengths, chunks);
        fingerprintPrefixes = Arrays.copyOf(fingerprintPrefixes, chunks);
        frames = Arrays.copyOf(frames, chunks);
        references = Arrays.copyOf(references, chunks);
        runBytes = Arrays.copyOf(runBytes, chunks);
        sources = Arrays.copyOf(sources, chunks);
        data = Arrays.copyOf(data, chunks);
        offsets = Arrays.copyOf(offsets, chunks);
    }

    public int count() {
        return count;
    }

    public long chunkId(int i) {
        return chunkIds[i];
    }

    /**
     * Returns whether the chunk also occurs earlier in the request. The first call indexes the chunks, so that every
     * call is fast.
     */
    public boolean isRepeated(int i) {
        if (firsts.length < 2 * count) {
            firsts = new int[2 * chunkIds.length];
            indexed = 0;
        }
        while (indexed <= i) {
            int at = firstPlace(chunkIds[indexed]);
            indexed++;
            firsts[at] = firsts[at] == 0 ? indexed : firsts[at];
        }
        return firsts[firstPlace(chunkIds[i])] <= i;
    }

    /** Returns the place of a chunk in {@link #firsts}, or the free place where it belongs. */
    private int firstPlace(long chunkId) {
        int at = ChunkHash.place(ChunkHash.of(chunkId), firsts.length);
        while (firsts[at] != 0 && chunkIds[firsts[at] - 1] != chunkId) {
            at = at + 1 == firsts.length ? 0 : at + 1;
        }
        return at;
    }

    private void clearIndex() {
        if (indexed > 0) {
            Arrays.fill(firsts, 0);
            indexed = 0;
        }
    }

    public int length(int i) {
        return lengths[i];
    }

    /** Changes the number of bytes needed; see {@link #add}. */
    public void setLength(int i, int length) {
        lengths[i] = length;
    }

    public int fingerprintPrefix(int i) {
        return fingerprintPrefixes[i];
    }

    public int frame(int i) {
        return frames[i];
    }

    public void setFrame(int i, int frame) {
        frames[i] = frame;
    }

    /** Returns the current references to the chunk; 0 if they were not looked up. */
    public int references(int i) {
        return references[i];
    }

    public void setReferences(int i, int references) {
        this.references[i] = references;
    }

    /**
     * Returns the bytes of the chunk's run in its file, or {@code FileRuns.UNFINISHED}; 0 if they were not set: then
     * the run in this request counts.
     */
    public long runBytes(int i) {
        return runBytes[i];
    }

    public void setRunBytes(int i, long bytes) {
        runBytes[i] = bytes;
    }

    public Source source(int i) {
        return sources[i];
    }

    public void setSource(int i, Source source) {
        sources[i] = source;
    }

    /** Returns whether a chunk is to be read from the SSD. */
    public boolean isFromSsd(int i) {
        return sources[i] == Source.SSD;
    }

    /** Marks a chunk as to be read from its container: it has no copy, or the copy can't be read. */
    public void sendHome(int i) {
        sources[i] = Source.HOME;
    }

    /**
     * Returns the array that holds all bytes of the chunk, from {@link #offset} on; null while they are not available.
     */
    public byte @Nullable [] data(int i) {
        return data[i];
    }

    public int offset(int i) {
        return offsets[i];
    }

    /** Removes the references to the data of all chunks; keeps their sources and lengths. */
    public void clearData() {
        Arrays.fill(data, 0, count, null);
    }

    /** Removes the reference to the data of one chunk: listeners that receive chunks with data skip it. */
    public void clearData(int i) {
        data[i] = null;
    }

    /** Sets the array that holds all {@code length} bytes of the chunk; there may be more than were requested. */
    public void setData(int i, byte[] bytes, int offset, int length) {
        data[i] = bytes;
        offsets[i] = offset;
        lengths[i] = length;
    }
}
