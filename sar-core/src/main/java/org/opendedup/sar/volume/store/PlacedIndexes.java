package org.opendedup.sar.volume.store;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.hot.copies.SsdBudget;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.IndexSpace;
import org.opendedup.sar.index.SealedChunkIndex;
import org.opendedup.sar.volume.config.VolumeConfig;

/** Opens the indexes of a volume: with its memory, the bound of its SSD, and the folder for what exceeds that. */
final class PlacedIndexes implements IndexOpener {
    /**
     * Folder of the disk indexes, at the containers. These lie on the largest disk, and the disk index grows with them:
     * 85 bytes a chunk, a hundredth of the data. The metadata are often on a small, fast disk, and when that is full
     * the volume stops.
     */
    static final String BEHIND = "disk-index";

    private final VolumeConfig config;
    private final long memoryBytes;
    private final @Nullable SsdBudget budget;

    /** @param budget bound of the index's SSD together with others; null if there are none */
    PlacedIndexes(VolumeConfig config, long memoryBytes, @Nullable SsdBudget budget) {
        this.config = config;
        this.memoryBytes = memoryBytes;
        this.budget = budget;
    }

    private IndexSpace space() {
        IndexSpace own = config.indexSettings().space();
        return budget == null ? own : new SharedSpace(budget, own);
    }

    private Path behind() {
        return config.locations().data().resolve(BEHIND);
    }

    @Override
    public ChunkIndex open(IndexClass kind, Path database) throws IOException {
        ChunkIndex index = ChunkIndexes.open(
                kind, database, memoryBytes, config.indexSettings().parameters(), space(), behind());
        VolumeKeys keys = config.keys();
        return keys == null ? index : new SealedChunkIndex(index, keys);
    }

    @Override
    public void deleteOrphans(Path inUse) throws IOException {
        ChunkIndexes.destroyOrphans(inUse, behind());
    }
}
