package org.opendedup.sar.index.silo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.opendedup.sar.index.rocksdb.IndexDatabase;
import org.opendedup.sar.io.PrivateFiles;

/** Opens and destroys SiLo indexes. */
public final class SiloChunkIndexFactory {
    private static final String BLOCKS = "blocks";

    private SiloChunkIndexFactory() {}

    /**
     * Opens the index in {@code folder}, or creates an empty one.
     *
     * @throws org.opendedup.sar.common.CorruptionException if its database is damaged: destroy it, open it again and
     *     rebuild it. Damaged block files are no reason: their containers are uncovered
     * @throws org.opendedup.sar.common.UnsupportedFormatException if an index of another kind or version is there
     */
    public static SiloChunkIndex open(Path folder, SiloSettings settings) throws IOException {
        SiloRecords records = SiloRecords.open(folder, settings.databaseBytes());
        try {
            return new SiloChunkIndex(records, BlockFiles.in(folder.resolve(BLOCKS)), settings);
        } catch (IOException | RuntimeException e) {
            records.close();
            throw e;
        }
    }

    /** Deletes the index in {@code folder}, whatever its state. It must not be open. */
    public static void destroy(Path folder) throws IOException {
        PrivateFiles.deleteFolder(folder.resolve(BLOCKS));
        IndexDatabase.destroy(folder);
    }

    /** Returns whether there is an index of this class. */
    public static boolean isIn(Path folder) {
        return Files.exists(folder.resolve("CURRENT")) && Files.isDirectory(folder.resolve(BLOCKS));
    }

    /** Returns whether the files of an index were deleted, or a damaged part of the database was met. */
    public static boolean isLost(Path folder) {
        return !isIn(folder) || IndexDatabase.isMarked(folder);
    }
}
