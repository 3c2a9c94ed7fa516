package org.opendedup.sar.index;

import java.io.IOException;
import java.nio.file.Path;
import org.opendedup.sar.index.heap.HeapChunkIndexFactory;
import org.opendedup.sar.index.rocksdb.RocksDbChunkIndexFactory;

/** The provider of {@link ChunkIndex}es. */
public final class ChunkIndexes {
    /** The least memory {@link #openRocksDb} works with, in bytes. */
    public static final long MIN_MEMORY_BYTES = RocksDbChunkIndexFactory.MIN_MEMORY_BYTES;

    private ChunkIndexes() {}

    /**
     * Opens the exact index that RocksDB keeps in {@code folder}, or makes a new one if there is none.
     *
     * @param memoryBytes bound of everything the index keeps in memory, native memory included; at least {@link
     *     #MIN_MEMORY_BYTES}
     * @throws org.opendedup.sar.common.CorruptionException if the database is damaged; {@link #destroy} it, open it again
     *     and rebuild it
     * @throws org.opendedup.sar.common.UnsupportedFormatException if a newer program wrote it
     * @throws IOException if the folder cannot be used, or another process has it open
     */
    public static ChunkIndex openRocksDb(Path folder, long memoryBytes) throws IOException {
        return RocksDbChunkIndexFactory.open(folder, memoryBytes);
    }

    /** Deletes the database in {@code folder}, whatever state it is in; it must not be open. No error if there is none. */
    public static void destroy(Path folder) throws IOException {
        RocksDbChunkIndexFactory.destroy(folder);
    }

    /** An index that knows nothing and keeps nothing, for a volume that must do without. */
    public static ChunkIndex none() {
        return new NoChunkIndex();
    }

    /** A new, exact index in memory alone: the reference the others are tested against. */
    public static ChunkIndex heap() {
        return HeapChunkIndexFactory.create();
    }
}
