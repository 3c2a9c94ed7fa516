package org.opendedup.sar.sim.restore;

import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;

/** Containers 1 to n and the lengths of their chunks: 4 bytes a chunk. Chunks can be added only to the last one. */
public final class PackedContainers {
    private int[] lengths = new int[1 << 10];
    private int chunks;
    /** By container, from 1: the number of its first chunk, and its bytes. */
    private int[] firsts = new int[16];

    private long[] sizes = new long[16];
    private int count;

    /** Returns the number of containers; their ids are 1 to this. */
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

    /** Appends a chunk to the open container; returns its chunk id. */
    long append(int bytes) {
        if (chunks == lengths.length) {
            lengths = Arrays.copyOf(lengths, chunks * 2);
        }
        lengths[chunks] = bytes;
        sizes[count] += bytes;
        return ChunkId.of(count, chunks++ - firsts[count]);
    }

    /** Returns the length of a chunk in bytes. */
    public int bytes(long chunkId) {
        return lengths[firsts[(int) ChunkId.container(chunkId)] + ChunkId.slot(chunkId)];
    }

    /** Returns the bytes of a container's chunks. */
    public long bytesOf(long container) {
        return sizes[(int) container];
    }

    /** Returns the number of chunks of a container. */
    public int chunksOf(long container) {
        int next = container == count ? chunks : firsts[(int) container + 1];
        return next - firsts[(int) container];
    }
}
