package org.opendedup.sar.index.rocksdb;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.opendedup.sar.index.DiskIndex;

/** A folder with disk indexes, each in a folder of its own whose name is its generation in hexadecimal digits. */
public final class DiskIndexFolder implements DiskIndex.Place {
    private static final Pattern NAME = Pattern.compile("[0-9a-f]{16}");

    /** Share of the memory for the database, in quarters; the rest is for the cache in the heap. */
    private static final int NATIVE_QUARTERS = 3;

    private final Path folder;
    private final long memoryBytes;

    /**
     * @param folder is made when it is needed
     * @param memoryBytes memory of one disk index, in bytes
     */
    public DiskIndexFolder(Path folder, long memoryBytes) {
        this.folder = folder;
        this.memoryBytes = memoryBytes;
    }

    /** Returns the part of a disk index's memory that is outside the heap, in bytes. */
    public static long nativeBytes(long memoryBytes) {
        return memoryBytes / 4 * NATIVE_QUARTERS;
    }

    private Path database(long generation) {
        return folder.resolve(String.format(Locale.ROOT, "%016x", generation));
    }

    @Override
    public boolean isThere(long generation) {
        return RocksDbChunkIndexFactory.isIn(database(generation));
    }

    @Override
    public DiskIndex open(long generation) throws IOException {
        long nativeBytes = nativeBytes(memoryBytes);
        return RocksDbDiskIndex.of(
                IndexDatabase.open(database(generation), nativeBytes), memoryBytes - nativeBytes, generation);
    }

    @Override
    public void deleteOthers(long generation) throws IOException {
        if (!Files.isDirectory(folder)) {
            return;
        }
        List<Path> others = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(
                folder, entry -> NAME.matcher(entry.getFileName().toString()).matches())) {
            entries.forEach(others::add);
        }
        others.remove(database(generation));
        for (Path other : others) {
            IndexDatabase.destroy(other);
            Files.deleteIfExists(other);
        }
    }
}
