package org.opendedup.sar.sim.restore;

import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;

/** Containers 1 to n and the lengths of their chunks: 4 bytes a chunk. Only the last one takes chunks. */
public final class PackedContainers {
    private int[] lengths = new int[1 << 10];
    private int chunks;
    /** By container, from 1 on: the number of its first chunk, and of its bytes. */
    private int[] firsts = new int[16];

    private long[] sizes = new long[16];
    private int count;

    /** Containers there are; their ids are 1 to this. */
    public int count() {
        return count;
    }

    /** Opens a container. */
    void add() {
        count++;
        if (count == firsts.length) {
            firsts = Arrays.copyOf(firsts, count * 2);
            sizes = Arrays.copyOf(sizes, count * 2);
        }
        firsts[count] = chunks;
    }

    /** Appends a chunk to the open container. */
    long append(int bytes) {
        if (chunks == lengths.length) {
            lengths = Arrays.copyOf(lengths, chunks * 2);
        }
        lengths[chunks] = bytes;
        sizes[count] += bytes;
        return ChunkId.of(count, chunks++ - firsts[count]);
    }

    /** The length of a chunk. */
    public int bytes(long chunkId) {
        return lengths[firsts[(int) ChunkId.container(chunkId)] + ChunkId.slot(chunkId)];
    }

    /** Bytes of a container's chunks. */
    public long bytesOf(long container) {
        return sizes[(int) container];
    }

    /** Chunks that a container has. */
    public int chunksOf(long container) {
        int next = container == count ? chunks : firsts[(int) container + 1];
        return next - firsts[(int) container];
    }
}
