package org.opendedup.sar.volume.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.index.IndexParameters;
import org.opendedup.sar.index.IndexSpace;
import org.opendedup.sar.index.NoChunkIndex;
import org.opendedup.sar.index.chunkstash.ChunkStashIndexFactory;
import org.opendedup.sar.index.rocksdb.DiskIndexFolder;
import org.opendedup.sar.index.rocksdb.RocksDbChunkIndexFactory;
import org.opendedup.sar.index.silo.SiloChunkIndexFactory;
import org.opendedup.sar.index.silo.SiloSettings;

/** Opens and creates {@link ChunkIndex}es. */
public final class ChunkIndexes {
    /** Minimum memory of an index of any class, in bytes. */
    public static final long MIN_MEMORY_BYTES =
            Math.max(RocksDbChunkIndexFactory.MIN_MEMORY_BYTES, ChunkStashIndexFactory.MIN_MEMORY_BYTES);

    private ChunkIndexes() {}

    /**
     * Opens the index in {@code folder}, or creates a new one if there is none.
     *
     * @param memoryBytes maximum bytes of memory that the index uses, native memory included; at least
     *     {@link #MIN_MEMORY_BYTES}
     * @throws org.opendedup.sar.common.CorruptionException if it is damaged; {@link #destroy} it, open it again and
     *     rebuild it
     * @throws org.opendedup.sar.common.UnsupportedFormatException if a newer program wrote it
     * @throws IOException if the folder cannot be used, has an index of another class, or another process has it open
     */
    public static ChunkIndex open(IndexClass kind, Path folder, long memoryBytes) throws IOException {
        return open(kind, folder, memoryBytes, IndexParameters.NONE, IndexSpace.UNBOUNDED, null);
    }

    /**
     * Opens an index as above.
     *
     * @param parameters sizes that are not the usual ones
     * @param space bound of the files of an index for SSDs
     * @param behind folder for what such an index has no room for; null: that is refused
     */
    public static ChunkIndex open(
            IndexClass kind,
            Path folder,
            long memoryBytes,
            IndexParameters parameters,
            IndexSpace space,
            @Nullable Path behind)
            throws IOException {
        return switch (kind) {
            case ROCKSDB -> RocksDbChunkIndexFactory.open(folder, memoryBytes);
            case CHUNKSTASH -> ChunkStashIndexFactory.open(folder, memoryBytes, parameters, space, behind);
            case SILO -> SiloChunkIndexFactory.open(folder, SiloSettings.of(memoryBytes, parameters));
        };
    }

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

    /** Deletes the index in {@code folder}, whatever its state. It must not be open. Does not fail if there is none. */
    public static void destroy(IndexClass kind, Path folder) throws IOException {
        switch (kind) {
            case ROCKSDB -> RocksDbChunkIndexFactory.destroy(folder);
            case CHUNKSTASH -> ChunkStashIndexFactory.destroy(folder);
            case SILO -> SiloChunkIndexFactory.destroy(folder);
        }
    }

    /** As {@link #destroy}, whatever its class. */
    static void destroyAny(Path folder) throws IOException {
        for (IndexClass kind : IndexClass.values()) {
            destroy(kind, folder);
        }
    }

    /**
     * Deletes the disk indexes that belong to no index.
     *
     * @param inUse folder of the index in use
     * @param behind folder of the disk indexes
     */
    static void destroyOrphans(Path inUse, Path behind) throws IOException {
        new DiskIndexFolder(behind, 0).deleteOthers(ChunkStashIndexFactory.generation(inUse));
    }

    /** Returns the class of the index in {@code folder}; empty if there is none. */
    static Optional<IndexClass> classIn(Path folder) {
        // SiLo first: it has a RocksDB database as well.
        if (SiloChunkIndexFactory.isIn(folder)) {
            return Optional.of(IndexClass.SILO);
        }
        if (ChunkStashIndexFactory.isIn(folder)) {
            return Optional.of(IndexClass.CHUNKSTASH);
        }
        return RocksDbChunkIndexFactory.isIn(folder) ? Optional.of(IndexClass.ROCKSDB) : Optional.empty();
    }

    /** Returns whether the files of the index in {@code folder} were deleted, or damage of it was met. */
    static boolean isLost(IndexClass kind, Path folder) {
        return switch (kind) {
            case ROCKSDB -> RocksDbChunkIndexFactory.isLost(folder);
            case CHUNKSTASH -> ChunkStashIndexFactory.isLost(folder);
            case SILO -> SiloChunkIndexFactory.isLost(folder);
        };
    }

    /** Returns an index that is empty and keeps nothing, for a volume that must work without one. */
    public static ChunkIndex none() {
        return new NoChunkIndex();
    }
}
