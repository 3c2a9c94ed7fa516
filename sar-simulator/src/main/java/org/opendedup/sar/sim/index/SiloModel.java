package org.opendedup.sar.sim.index;

import java.io.IOException;
import java.nio.file.Path;
import org.opendedup.sar.index.silo.SiloChunkIndex;
import org.opendedup.sar.index.silo.SiloChunkIndexFactory;
import org.opendedup.sar.index.silo.SiloSettings;

/** The volume's own {@link SiloChunkIndex}. */
final class SiloModel extends ChunkIndexModel {
    private final SiloChunkIndex index;
    private long reads;
    private long entries;

    private SiloModel(SiloChunkIndex index) throws IOException {
        super(index);
        this.index = index;
    }

    static SiloModel open(Path folder, SiloSettings settings) throws IOException {
        return new SiloModel(SiloChunkIndexFactory.open(folder, settings));
    }

    @Override
    void countReads() {
        long readsNow = index.numbers().blockReads();
        for (; reads < readsNow; reads++) {
            // The bytes of a block on average.
            read(entries / index.numbers().blocks() * StoredContainers.ENTRY_BYTES);
        }
    }

    @Override
    void stored(TraceSegment segment) {
        entries += segment.count();
    }

    @Override
    long indexBytes() {
        return index.numbers().similarityBytes();
    }

    @Override
    long cacheBytes() {
        return index.numbers().blockBytes();
    }
}
