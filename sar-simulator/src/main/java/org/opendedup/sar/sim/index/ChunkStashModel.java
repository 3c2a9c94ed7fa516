package org.opendedup.sar.sim.index;

import java.io.IOException;
import java.nio.file.Path;
import org.opendedup.sar.index.chunkstash.ChunkStashIndex;
import org.opendedup.sar.index.chunkstash.ChunkStashIndexFactory;
import org.opendedup.sar.index.chunkstash.StashSettings;
import org.opendedup.sar.index.chunkstash.StashStatistics;

/** The volume's own {@link ChunkStashIndex}. */
final class ChunkStashModel extends ChunkIndexModel {
    private final ChunkStashIndex index;
    private StashStatistics before;

    private ChunkStashModel(ChunkStashIndex index) throws IOException {
        super(index);
        this.index = index;
        before = index.statistics();
    }

    static ChunkStashModel open(Path folder, StashSettings settings) throws IOException {
        return new ChunkStashModel(ChunkStashIndexFactory.open(folder, settings));
    }

    @Override
    void countReads() throws IOException {
        StashStatistics now = index.statistics();
        read(now.reads() - before.reads(), now.readBytes() - before.readBytes());
        before = now;
    }

    /** Returns the bytes of a table that is as full as it may be: how much larger it is depends on when it grew. */
    @Override
    long indexBytes() throws IOException {
        return StashSettings.tableBytes(index.statistics().tableEntries());
    }

    @Override
    long cacheBytes() throws IOException {
        return index.statistics().frameBytes();
    }

    @Override
    int sampling() throws IOException {
        return index.statistics().interval();
    }
}
