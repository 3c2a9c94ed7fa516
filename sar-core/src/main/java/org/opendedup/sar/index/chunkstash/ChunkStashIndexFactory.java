package org.opendedup.sar.index.chunkstash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.opendedup.sar.index.ChunkIndex;
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

    /** Opens an index; see {@link org.opendedup.sar.volume.store.ChunkIndexes#open}. */
    public static ChunkIndex open(Path folder, long memoryBytes) throws IOException {
        if (memoryBytes < MIN_MEMORY_BYTES) {
            throw new IllegalArgumentException(
                    "the chunk index needs " + MIN_MEMORY_BYTES + " bytes of memory or more, not " + memoryBytes);
        }
        return open(folder, StashSettings.of(memoryBytes));
    }

    /** Opens an index, or makes one, whose memory is divided by the caller. */
    public static ChunkStashIndex open(Path folder, StashSettings settings) throws IOException {
        PrivateFiles.createFolders(folder);
        if (Files.exists(folder.resolve(ROCKSDB))) {
            throw new IOException(folder + " has an index of another class");
        }
        LockFile lock = LockFile.tryAcquire(folder.resolve(LOCK))
                .orElseThrow(() -> new IOException("the fingerprint index in " + folder + " is open already"));
        try {
            return ChunkStashIndex.open(
                    FileDirectory.open(folder, new TransferBuffers(TRANSFER_BUFFERS)), settings, lock::close);
        } catch (IOException | RuntimeException e) {
            lock.close();
            throw e;
        }
    }

    /** Destroys an index, whatever its state. It must not be open. */
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
