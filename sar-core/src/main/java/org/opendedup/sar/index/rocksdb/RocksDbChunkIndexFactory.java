package org.opendedup.sar.index.rocksdb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.opendedup.sar.index.ChunkIndex;

/** Opens and destroys chunk indexes in RocksDB. */
public final class RocksDbChunkIndexFactory {
    /**
     * Minimum memory of an index, in bytes: a few MiB each for its memtables, its block cache and its fingerprint
     * cache.
     */
    public static final long MIN_MEMORY_BYTES = 8 << 20;

    private RocksDbChunkIndexFactory() {}

    /** Opens an index; see {@link org.opendedup.sar.volume.store.ChunkIndexes#openRocksDb}. */
    public static ChunkIndex open(Path folder, long memoryBytes) throws IOException {
        if (memoryBytes < MIN_MEMORY_BYTES) {
            throw new IllegalArgumentException(
                    "the chunk index needs " + MIN_MEMORY_BYTES + " bytes of memory or more, not " + memoryBytes);
        }
        return new RocksDbChunkIndex(IndexDatabase.open(folder, memoryBytes * 3 / 4), memoryBytes / 4);
    }

    /** Destroys an index; see {@link org.opendedup.sar.volume.store.ChunkIndexes#destroy}. */
    public static void destroy(Path folder) throws IOException {
        IndexDatabase.destroy(folder);
    }

    /** Returns whether there is an index of this class. */
    public static boolean isIn(Path folder) {
        return Files.exists(folder.resolve("CURRENT"));
    }

    /**
     * Returns whether the files of an index were deleted, or a damaged block was met, so that its next opening fails.
     */
    public static boolean isLost(Path folder) {
        return !isIn(folder) || IndexDatabase.isMarked(folder);
    }
}
