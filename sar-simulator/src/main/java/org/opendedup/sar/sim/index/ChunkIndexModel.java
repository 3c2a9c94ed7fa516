package org.opendedup.sar.sim.index;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.index.ChunkIndex;

/** One of the volume's own indexes, on the disk: new chunks go to containers in the order of their arrival. */
abstract class ChunkIndexModel extends IndexModel {
    private static final int MAX_SLOTS = 4096;

    private final ChunkIndex index;
    private long container;
    private int slot;
    private long containerBytes;
    /** Containers that the segment filled: they are sealed when the index has all of their chunks. */
    private final List<Long> filled = new ArrayList<>();

    /** @param index may have containers already; new chunks go to later ones */
    ChunkIndexModel(ChunkIndex index) throws IOException {
        this.index = index;
        container = index.highestContainer() + 1;
    }

    /** Counts what the lookup of a segment read. */
    abstract void countReads() throws IOException;

    /** Notes that the index has a segment, one or more of whose chunks were new. */
    void stored(TraceSegment segment) {
        // For those that count by it.
    }

    @Override
    final void store(TraceSegment stored) throws IOException {
        Segment segment = stored.segment();
        index.lookup(segment);
        countReads();
        boolean fresh = false;
        for (int chunk = 0; chunk < stored.count(); chunk++) {
            if (segment.hint(chunk) != ChunkId.NONE || stored.isRepeat(chunk)) {
                found(stored.length(chunk));
            } else {
                append(segment, chunk);
                fresh = true;
            }
        }
        index.insert(segment);
        for (long sealed : filled) {
            index.cover(sealed, new byte[] {1});
        }
        filled.clear();
        if (fresh) {
            stored(stored);
        }
    }

    private void append(Segment segment, int chunk) {
        if (slot == MAX_SLOTS || containerBytes + segment.length(chunk) > StoredContainers.CONTAINER_BYTES) {
            filled.add(container++);
            slot = 0;
            containerBytes = 0;
        }
        segment.setChunkId(chunk, ChunkId.of(container, slot++));
        segment.setFresh(chunk, true);
        containerBytes += segment.length(chunk);
    }

    /** Seals the last container. */
    @Override
    final void finish() throws IOException {
        if (slot > 0) {
            index.cover(container++, new byte[] {1});
            slot = 0;
            containerBytes = 0;
        }
    }

    @Override
    public final void close() throws IOException {
        index.close();
    }
}
