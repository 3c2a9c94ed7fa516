package org.opendedup.sar.volume.store;

import java.io.IOException;
import java.nio.file.Path;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.NoChunkIndex;
import org.opendedup.sar.index.heap.HeapChunkIndexFactory;
import org.opendedup.sar.index.rocksdb.RocksDbChunkIndexFactory;

/** Opens and creates {@link ChunkIndex}es. */
public final class ChunkIndexes {
    /** Minimum memory for {@link #openRocksDb}, in bytes. */
    public static final long MIN_MEMORY_BYTES = RocksDbChunkIndexFactory.MIN_MEMORY_BYTES;

    private ChunkIndexes() {}

    /**
     * Opens the exact index that RocksDB keeps in {@code folder}, or creates a new one if there is none.
     *
     * @param memoryBytes maximum bytes of memory that the index uses, native memory included; at least
     *     {@link #MIN_MEMORY_BYTES}
     * @throws org.opendedup.sar.common.CorruptionException if the database is damaged; {@link #destroy} it, open it
     *     again and rebuild it
     * @throws org.opendedup.sar.common.UnsupportedFormatException if a newer program wrote it
     * @throws IOException if the folder cannot be used, or another process has it open
     */
    public static ChunkIndex openRocksDb(Path folder, long memoryBytes) throws IOException {
        return RocksDbChunkIndexFactory.open(folder, memoryBytes);
    }

    /**
     * Deletes the database in {@code folder}, whatever its state. It must not be open. Does not fail if there is none.
     */
    public static void destroy(Path folder) throws IOException {
        RocksDbChunkIndexFactory.destroy(folder);
    }

    /** Returns whether a damaged block of the database in {@code folder} was met. */
    static boolean isMarked(Path folder) {
        return RocksDbChunkIndexFactory.isMarked(folder);
    }

    /** Returns an index that is empty and keeps nothing, for a volume that must work without one. */
    public static ChunkIndex none() {
        return new NoChunkIndex();
    }

    /** Returns a new, exact index in memory only: the reference for tests of the others. */
    public static ChunkIndex heap() {
        return HeapChunkIndexFactory.create();
    }
}
