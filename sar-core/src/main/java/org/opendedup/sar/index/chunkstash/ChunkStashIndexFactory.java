package org.opendedup.sar.index.chunkstash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.IndexParameters;
import org.opendedup.sar.index.IndexSpace;
import org.opendedup.sar.index.rocksdb.DiskIndexFolder;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.io.TransferBuffers;

/** Opens and destroys chunk indexes in a log with a table in memory. */
public final class ChunkStashIndexFactory {
    /** Minimum memory of an index, in bytes. */
    public static final long MIN_MEMORY_BYTES = 8 << 20;

    /** Buffers outside the heap through which the log is read and written: 1 MiB. */
    public static final int TRANSFER_BUFFERS = 4;

    /** Held while an index is open. */
    private static final String LOCK = "LOCK";

    /** A file of every RocksDB database. */
    private static final String ROCKSDB = "CURRENT";

    private ChunkStashIndexFactory() {}

    /** Smallest part of the memory for the disk index, in bytes. */
    private static final long LEAST_DISK_BYTES = 2 << 20;

    /** Divisor of the memory for the disk index. */
    private static final int DISK_SHARE = 8;

    /** Opens an index with nothing behind it; see {@link org.opendedup.sar.volume.store.ChunkIndexes#open}. */
    public static ChunkIndex open(Path folder, long memoryBytes) throws IOException {
        return open(folder, memoryBytes, IndexParameters.NONE, IndexSpace.UNBOUNDED, null);
    }

    /**
     * Opens an index.
     *
     * @param parameters sampling rate and width of the table
     * @param space bound of its files
     * @param behind folder for a disk index, which is made when it is needed; null: there is none
     */
    public static ChunkIndex open(
            Path folder, long memoryBytes, IndexParameters parameters, IndexSpace space, @Nullable Path behind)
            throws IOException {
        if (memoryBytes < MIN_MEMORY_BYTES) {
            throw new IllegalArgumentException(
                    "the chunk index needs " + MIN_MEMORY_BYTES + " bytes of memory or more, not " + memoryBytes);
        }
        StashLimits limits =
                new StashLimits(space, behind == null ? null : new DiskIndexFolder(behind, diskBytes(memoryBytes)));
        return open(folder, settings(memoryBytes, parameters).forSpace(space.mostBytes()), limits);
    }

    private static long diskBytes(long memoryBytes) {
        return Math.max(LEAST_DISK_BYTES, memoryBytes / DISK_SHARE);
    }

    /** Returns the part of an index's memory that is outside the heap, in bytes: that of the disk index. */
    public static long nativeBytes(long memoryBytes) {
        return DiskIndexFolder.nativeBytes(diskBytes(memoryBytes));
    }

    /** Returns how an index divides its memory, but for the disk index. */
    public static StashSettings settings(long memoryBytes, IndexParameters parameters) {
        return StashSettings.of(memoryBytes - diskBytes(memoryBytes), parameters);
    }

    /** Opens an index, or makes one, whose memory is divided by the caller. */
    public static ChunkStashIndex open(Path folder, StashSettings settings) throws IOException {
        return open(folder, settings, StashLimits.NONE);
    }

    /** As above, with a bound of its files. */
    public static ChunkStashIndex open(Path folder, StashSettings settings, StashLimits limits) throws IOException {
        PrivateFiles.createFolders(folder);
        if (Files.exists(folder.resolve(ROCKSDB))) {
            throw new IOException(folder + " has an index of another class");
        }
        LockFile lock = LockFile.tryAcquire(folder.resolve(LOCK))
                .orElseThrow(() -> new IOException("the fingerprint index in " + folder + " is open already"));
        try {
            return open(
                    FileDirectory.open(folder, new TransferBuffers(TRANSFER_BUFFERS)), settings, limits, lock::close);
        } catch (IOException | RuntimeException e) {
            lock.close();
            throw e;
        }
    }

    /**
     * Opens the index in a directory, or makes one.
     *
     * @param limits how large it may become, and what is behind it
     * @param released called when the index is closed
     * @throws CorruptionException if it is damaged
     * @throws org.opendedup.sar.common.UnsupportedFormatException if a newer program wrote it
     */
    static ChunkStashIndex open(Directory directory, StashSettings settings, StashLimits limits, Runnable released)
            throws IOException {
        long generation = StashFiles.identity(directory);
        StashState state = ChunkStashIndex.newState(directory, settings, generation);
        StashDisk disk = new StashDisk(limits.behind());
        try {
            Checkpoint.read(directory, generation, state);
            disk.open(generation, state.moves);
        } catch (IOException | RuntimeException e) {
            state.records.close();
            throw e;
        }
        return new ChunkStashIndex(directory, settings, limits, disk, generation, state, released);
    }

    /** Returns the generation of the index in a folder, which names its disk index; 0 if there is none. */
    public static long generation(Path folder) throws IOException {
        return isIn(folder) ? StashFiles.readIdentity(FileDirectory.open(folder)) : 0;
    }

    /** Destroys an index, but for its disk index, whatever its state. It must not be open. */
    public static void destroy(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return;
        }
        Directory directory = FileDirectory.open(folder);
        for (String name : directory.list()) {
            if (StashFiles.isOfIndex(name) && !name.equals(StashFiles.IDENTITY)) {
                directory.delete(name);
            }
        }
        StashFiles.deleteIfPresent(directory, StashFiles.IDENTITY);
        StashFiles.deleteIfPresent(directory, LOCK);
    }

    /** Returns whether there is an index of this class. */
    public static boolean isIn(Path folder) {
        return Files.exists(folder.resolve(StashFiles.IDENTITY));
    }

    /** Returns whether the files of an index were deleted, or damage of it was met. */
    public static boolean isLost(Path folder) {
        return !isIn(folder) || Files.exists(folder.resolve(StashFiles.DAMAGED));
    }
}
