package org.opendedup.sar.hot.promotion;

import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.ssd.HotContents;
import org.opendedup.sar.ssd.MapEntry;

/**
 * Iterates over all chunks of an SSD, those of one container together, so that each container's count record is read
 * once. A large table is split in parts, each with some of the containers: memory stays at a few MiB. For use by one
 * thread.
 */
public final class SweepOrder {
    /** Chunks per part, approximately: 8 MiB of ids. With n parts, each part has every n-th container. */
    private static final int CHUNKS_PER_PART = 1 << 20;

    private final HotContents contents;
    private final int parts;
    private int part = -1;
    private long[] chunkIds = new long[1024];
    private int count;

    public SweepOrder(HotContents contents) {
        this(contents, CHUNKS_PER_PART);
    }

    public SweepOrder(HotContents contents, int chunksPerPart) {
        this.contents = contents;
        parts = 1 + contents.size() / chunksPerPart;
    }

    /** Collects the next part; returns false if there is none. */
    public boolean nextPart() {
        part++;
        count = 0;
        if (part == parts) {
            return false;
        }
        contents.forEach(this::collect);
        Arrays.sort(chunkIds, 0, count);
        return true;
    }

    private void collect(MapEntry entry) {
        if (Math.floorMod(ChunkId.container(entry.chunkId), parts) != part) {
            return;
        }
        if (count == chunkIds.length) {
            chunkIds = Arrays.copyOf(chunkIds, 2 * count);
        }
        chunkIds[count++] = entry.chunkId;
    }

    public int count() {
        return count;
    }

    public long chunkId(int i) {
        return chunkIds[i];
    }
}
