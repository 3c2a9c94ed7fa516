package org.opendedup.sar.tier;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkHash;
import org.opendedup.sar.ssd.CopyRequest;

/**
 * The stored chunks that one request writes again or reads, in the order of the file, each as often as it is referenced; zero
 * runs are left out. A struct of arrays, used again for the next request. For one thread at a time.
 */
public final class ChunkRequest implements CopyRequest {
    private static final int CHUNKS = 64;

    private int count;
    private long[] chunkIds = new long[CHUNKS];
    private int[] lengths = new int[CHUNKS];
    private int[] checks = new int[CHUNKS];
    private int[] frames = new int[CHUNKS];
    private int[] references = new int[CHUNKS];
    private Source[] sources = new Source[CHUNKS];
    private byte[] @Nullable [] data = new byte[CHUNKS][];
    private int[] offsets = new int[CHUNKS];

    /** By hash of the chunk id: one more than the number of its first occurrence; 0 where a place is free. */
    private int[] firsts = new int[2 * CHUNKS];
    /** So many chunks are in {@link #firsts}. */
    private int indexed;

    /** Forgets all chunks. */
    public void clear() {
        Arrays.fill(data, 0, count, null);
        count = 0;
        clearIndex();
    }

    /**
     * Adds the next chunk, with its home as source.
     *
     * @param length on the read path how many of its bytes are needed, from its first one on; on the write path all its bytes
     * @param check first bytes of its fingerprint, see {@link org.opendedup.sar.common.Fingerprints#check}
     * @param frame number of the frame that holds it in its container; -1 while it is not known
     */
    public void add(long chunkId, int length, int check, int frame) {
        if (count == chunkIds.length) {
            grow();
        }
        chunkIds[count] = chunkId;
        lengths[count] = length;
        checks[count] = check;
        frames[count] = frame;
        references[count] = 0;
        sources[count] = Source.HOME;
        count++;
    }

    private void grow() {
        int chunks = chunkIds.length * 2;
        chunkIds = Arrays.copyOf(chunkIds, chunks);
        lengths = Arrays.copyOf(lengths, chunks);
        checks = Arrays.copyOf(checks, chunks);
        frames = Arrays.copyOf(frames, chunks);
        references = Arrays.copyOf(references, chunks);
        sources = Arrays.copyOf(sources, chunks);
        data = Arrays.copyOf(data, chunks);
        offsets = Arrays.copyOf(offsets, chunks);
    }

    @Override
    public int count() {
        return count;
    }

    @Override
    public long chunkId(int i) {
        return chunkIds[i];
    }

    /** Whether the request has the chunk earlier, too. Chunks are indexed when this is asked first, so all answers are quick. */
    boolean isRepeated(int i) {
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

    /** Where in {@link #firsts} a chunk is, or belongs. */
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

    @Override
    public int length(int i) {
        return lengths[i];
    }

    /** Changes how many bytes are needed; see {@link #add}. */
    public void setLength(int i, int length) {
        lengths[i] = length;
    }

    @Override
    public int check(int i) {
        return checks[i];
    }

    public int frame(int i) {
        return frames[i];
    }

    public void setFrame(int i, int frame) {
        frames[i] = frame;
    }

    /** References to the chunk by now; 0 where nobody asked. */
    public int references(int i) {
        return references[i];
    }

    public void setReferences(int i, int references) {
        this.references[i] = references;
    }

    public Source source(int i) {
        return sources[i];
    }

    public void setSource(int i, Source source) {
        sources[i] = source;
    }

    @Override
    public boolean isFromSsd(int i) {
        return sources[i] == Source.SSD;
    }

    @Override
    public void sendHome(int i) {
        sources[i] = Source.HOME;
    }

    /** The array in which all bytes of the chunk lie from {@link #offset} on; null while they are not there. */
    public byte @Nullable [] data(int i) {
        return data[i];
    }

    public int offset(int i) {
        return offsets[i];
    }

    /** Sets where all {@code length} bytes of the chunk lie: their number may be more than what was wanted of it. */
    @Override
    public void setData(int i, byte[] bytes, int offset, int length) {
        data[i] = bytes;
        offsets[i] = offset;
        lengths[i] = length;
    }
}
