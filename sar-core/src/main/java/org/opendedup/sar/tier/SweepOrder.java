package org.opendedup.sar.tier;

import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.ssd.MapEntry;

/**
 * Shows all chunks of an SSD, those of one container together, so that each container's count record is read once. A large
 * table is shown in parts, each of some of the containers: memory stays at a few MiB. For one thread.
 */
final class SweepOrder {
    /** 8 MiB of ids, more or less: every so many-th container is in one part. */
    private static final int CHUNKS_PER_PART = 1 << 20;

    private final TierContents contents;
    private final int parts;
    private int part = -1;
    private long[] chunkIds = new long[1024];
    private int count;

    SweepOrder(TierContents contents) {
        this(contents, CHUNKS_PER_PART);
    }

    SweepOrder(TierContents contents, int chunksPerPart) {
        this.contents = contents;
        parts = 1 + contents.size() / chunksPerPart;
    }

    /** Gathers the next part; false if there is none. */
    boolean nextPart() {
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

    int count() {
        return count;
    }

    long chunkId(int i) {
        return chunkIds[i];
    }
}
