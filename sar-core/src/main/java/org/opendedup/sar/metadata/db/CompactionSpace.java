package org.opendedup.sar.metadata.db;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.io.FileDevice;
import org.rocksdb.DBOptions;
import org.rocksdb.Env;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksObject;
import org.rocksdb.SstFileManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prevents compactions from filling the device of a database. A compaction writes its output first and then deletes its
 * input, and without this class RocksDB detects only at the last byte that there is no space; concurrent commits then
 * find the device full. A compaction that does not fit is skipped; RocksDB tries it again every second.
 *
 * <p>RocksDB compares the sum of table bytes, input bytes of running compactions and a buffer with one constant, the
 * allowed bytes. So the allowed bytes are set to the whole device, and the buffer to the bytes that others use on the
 * device plus the bytes that are kept free.
 */
final class CompactionSpace {
    private static final Logger log = LoggerFactory.getLogger(CompactionSpace.class);

    /**
     * Divisor of the device's size for the bytes that compactions leave free, at most {@link #MAX_KEPT_BYTES}: commits
     * and their replay continue in this space.
     */
    private static final int DEVICE_PER_KEPT = 48;

    private static final long MAX_KEPT_BYTES = 64L << 20;
    /** Minimum interval between two queries of the device, in nanoseconds. */
    private static final long REFRESH_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Device device;
    private final SstFileManager tables;
    private final long deviceBytes;
    /** When the device was queried last, {@link System#nanoTime}. Guarded by this. */
    private long refreshedNs = System.nanoTime();

    /**
     * @param folder folder of the database, which is not open yet
     * @param natives receives the native object, which must be closed after the database
     */
    CompactionSpace(Path folder, List<RocksObject> natives) throws RocksDBException, IOException {
        device = FileDevice.of(folder);
        tables = new SstFileManager(Env.getDefault());
        natives.add(tables);
        deviceBytes = device.totalBytes();
        if (deviceBytes > 0) {
            tables.setMaxAllowedSpaceUsage(deviceBytes);
        }
        // An opened database begins compactions immediately, when RocksDB does not know the bytes of its tables yet.
        set(bytes(folder, "*.sst"));
    }

    void of(DBOptions options) {
        options.setSstFileManager(tables);
    }

    /**
     * Bytes of the database's files whose names match {@code glob}. A file that is deleted meanwhile counts as 0.
     *
     * @param folder folder of the database
     */
    static long bytes(Path folder, String glob) throws IOException {
        long bytes = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, glob)) {
            for (Path file : files) {
                bytes += size(file);
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return bytes;
    }

    private static long size(Path file) throws IOException {
        try {
            return Files.size(file);
        } catch (NoSuchFileException e) {
            return 0;
        }
    }

    /** Size of the device in bytes; 0 if unknown. */
    long deviceBytes() {
        return deviceBytes;
    }

    /** Queries the device, at most once in half a second. Must not be called after the database was closed. */
    synchronized void refresh() {
        long now = System.nanoTime();
        if (now - refreshedNs < REFRESH_NS) {
            return;
        }
        refreshedNs = now;
        try {
            set(tables.getTotalSize());
        } catch (IOException e) {
            log.debug("the space under {} is not known", device, e);
        }
    }

    private void set(long tableBytes) throws IOException {
        if (deviceBytes > 0) {
            long forTables = tableBytes + device.usableBytes() - keptBytes(deviceBytes);
            tables.setCompactionBufferSize(Math.max(1, deviceBytes - forTables));
        }
    }

    private static long keptBytes(long deviceBytes) {
        return Math.min(MAX_KEPT_BYTES, deviceBytes / DEVICE_PER_KEPT);
    }
}
