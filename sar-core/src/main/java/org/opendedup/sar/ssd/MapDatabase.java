package org.opendedup.sar.ssd;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.io.SystemError;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.CompressionType;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Statistics;
import org.rocksdb.StatsLevel;
import org.rocksdb.Status;
import org.rocksdb.TickerType;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * The Map table's copy on the SSD, a RocksDB database, so that the table survives unmounting and crashes. Writes do not
 * wait for the disk: lost changes cost only speed, and an entry whose bytes were lost is detected when they are read.
 * For use by one thread.
 *
 * <p>Key: chunk id, 8 bytes, big-endian. Value: version (1 byte: 1), segment (2), offset (4), length (4), count (2),
 * saving (2), big-endian.
 */
final class MapDatabase implements Closeable {
    private static final byte VERSION = 1;
    static final int VALUE_BYTES = 15;

    private static final long CACHE_BYTES = 4 << 20;
    /** Bytes of each of two write buffers, 20 000 entries each: one is filled while the other is written out. */
    private static final long WRITE_BUFFER_BYTES = 1 << 20;
    /** Limit of RocksDB's log, in bytes: the log also holds the buffers not yet written out. */
    private static final long WAL_BYTES = 2 * WRITE_BUFFER_BYTES;

    private static final long TABLE_BYTES = 4 << 20;
    private static final long INFO_LOG_BYTES = 256 << 10;
    static final int OPEN_FILES = 32;
    private static final int RETAIN_BATCH = 4096;

    private final Path folder;
    private final RocksDB db;
    private final Deque<AutoCloseable> handles;
    private final Statistics statistics;
    private final WriteOptions unsynced;
    private final WriteBatch batch;
    private final ByteBuffer key = ByteBuffer.allocate(Long.BYTES);
    private final ByteBuffer value = ByteBuffer.allocate(VALUE_BYTES);
    private boolean closed;

    private MapDatabase(Path folder, RocksDB db, Statistics statistics, Deque<AutoCloseable> handles) {
        this.folder = folder;
        this.db = db;
        this.statistics = statistics;
        this.handles = handles;
        unsynced = new WriteOptions().setSync(false);
        batch = new WriteBatch();
        handles.push(unsynced);
        handles.push(batch);
    }

    /**
     * Opens the database of a folder; creates an empty one if there is none.
     *
     * @throws CorruptionException if it is damaged, or some of its files are missing
     * @throws NoSpaceException if the disk is full
     */
    static MapDatabase open(Path folder) throws IOException {
        PrivateFiles.createFolders(folder);
        return open(folder, false);
    }

    /** Opens an existing database on a disk that takes no writes; for reading only. */
    static MapDatabase openReadOnly(Path folder) throws IOException {
        return open(folder, true);
    }

    private static MapDatabase open(Path folder, boolean readOnly) throws IOException {
        RocksDB.loadLibrary();
        Deque<AutoCloseable> handles = new ArrayDeque<>();
        LRUCache cache = new LRUCache(CACHE_BYTES);
        handles.push(cache);
        Statistics statistics = new Statistics();
        statistics.setStatsLevel(StatsLevel.EXCEPT_DETAILED_TIMERS);
        handles.push(statistics);
        Options options = options(cache).setStatistics(statistics);
        handles.push(options);
        try {
            RocksDB db = readOnly
                    ? RocksDB.openReadOnly(options, folder.toString())
                    : RocksDB.open(options, folder.toString());
            handles.push(db);
            return new MapDatabase(folder, db, statistics, handles);
        } catch (RocksDBException e) {
            closeAll(handles);
            throw translate(folder, e);
        }
    }

    private static Options options(LRUCache cache) {
        return new Options()
                .setCreateIfMissing(true)
                .setTableFormatConfig(new BlockBasedTableConfig()
                        .setBlockCache(cache)
                        .setCacheIndexAndFilterBlocks(true)
                        .setFormatVersion(5))
                .setWriteBufferSize(WRITE_BUFFER_BYTES)
                .setMaxWriteBufferNumber(2)
                .setMaxTotalWalSize(WAL_BYTES)
                // Replay stops at the first damage of the log: losing the entries after it costs only speed.
                .setWalRecoveryMode(WALRecoveryMode.PointInTimeRecovery)
                .setTargetFileSizeBase(TABLE_BYTES)
                .setMaxBytesForLevelBase(4 * TABLE_BYTES)
                .setLevelCompactionDynamicLevelBytes(true)
                .setCompressionType(CompressionType.LZ4_COMPRESSION)
                .setMaxOpenFiles(OPEN_FILES)
                .setMaxBackgroundJobs(1)
                // Space is used only when it is written: the SSD's capacity is counted in file lengths.
                .setAllowFAllocate(false)
                .setManifestPreallocationSize(4096)
                .setMaxManifestFileSize(INFO_LOG_BYTES)
                .setInfoLogLevel(InfoLogLevel.ERROR_LEVEL)
                .setMaxLogFileSize(INFO_LOG_BYTES)
                .setKeepLogFileNum(2);
    }

    /** Deletes the database of a folder. */
    static void destroy(Path folder) throws IOException {
        try {
            for (Path file : FolderEntries.of(folder)) {
                Files.deleteIfExists(file);
            }
        } catch (NoSuchFileException e) {
            return;
        }
    }

    /**
     * Passes every entry to the visitor; it is valid during the call only.
     *
     * @throws CorruptionException if an entry is damaged, or of another version
     */
    void forEach(Consumer<MapEntry> visitor) throws IOException {
        MapEntry entry = new MapEntry();
        // Direct buffers avoid an array for each of a million keys and values.
        ByteBuffer foundKey = ByteBuffer.allocateDirect(Long.BYTES);
        ByteBuffer foundValue = ByteBuffer.allocateDirect(VALUE_BYTES);
        try (RocksIterator records = db.newIterator()) {
            for (records.seekToFirst(); records.isValid(); records.next()) {
                int keyBytes = records.key(foundKey.clear());
                int valueBytes = records.value(foundValue.clear());
                if (keyBytes != Long.BYTES || valueBytes != VALUE_BYTES || foundValue.get(0) != VERSION) {
                    throw new CorruptionException(
                            folder.toString(), -1, "entries of version " + VERSION, "one that is not, or is damaged");
                }
                entry.chunkId = foundKey.getLong(0);
                decode(foundValue, entry);
                visitor.accept(entry);
            }
            records.status();
        } catch (RocksDBException e) {
            throw translate(folder, e);
        }
    }

    private static void decode(ByteBuffer fields, MapEntry into) {
        into.segment = fields.getShort(1) & 0xffff;
        into.offset = fields.getInt(3);
        into.length = fields.getInt(7);
        into.count = fields.getShort(11) & 0xffff;
        into.saving = fields.getShort(13) & 0xffff;
        into.heat = 0;
    }

    /** Adds an entry to the next {@link #commit}. */
    void put(MapEntry entry) throws IOException {
        encode(entry, value);
        try {
            batch.put(keyOf(entry.chunkId), value.array());
        } catch (RocksDBException e) {
            throw translate(folder, e);
        }
    }

    /** Fills a buffer of {@value #VALUE_BYTES} bytes with an entry's value. */
    static void encode(MapEntry entry, ByteBuffer value) {
        value.clear();
        value.put(VERSION).putShort((short) entry.segment).putInt(entry.offset).putInt(entry.length);
        value.putShort((short) Math.min(PackedEntry.MAX_COUNT, entry.count));
        value.putShort((short) Math.min(PackedEntry.MAX_SAVING, entry.saving));
    }

    /** Adds a removal to the next {@link #commit}. */
    void remove(long chunkId) throws IOException {
        remove(keyOf(chunkId));
    }

    private void remove(byte[] entryKey) throws IOException {
        try {
            batch.delete(entryKey);
        } catch (RocksDBException e) {
            throw translate(folder, e);
        }
    }

    private byte[] keyOf(long chunkId) {
        return key.putLong(0, chunkId).array();
    }

    /** Returns the bytes written since it was opened: to the log, and of tables, written out or merged. */
    long writtenBytes() {
        return statistics.getTickerCount(TickerType.WAL_FILE_BYTES)
                + statistics.getTickerCount(TickerType.FLUSH_WRITE_BYTES)
                + statistics.getTickerCount(TickerType.COMPACT_WRITE_BYTES);
    }

    /** Returns the number of changes added since the last commit. */
    int pending() {
        return batch.count();
    }

    /**
     * Writes the pending changes; they survive the death of the process. They are discarded also if the write fails.
     */
    void commit() throws IOException {
        if (batch.count() == 0) {
            return;
        }
        try {
            db.write(unsynced, batch);
        } catch (RocksDBException e) {
            throw translate(folder, e);
        } finally {
            batch.clear();
        }
    }

    /**
     * Removes every entry whose chunk is not wanted; the last removals are written by the next {@link #commit}.
     *
     * @throws CorruptionException if an entry can't be read, even because of a disk error: the wanted entries are known
     *     elsewhere
     */
    void retain(LongPredicate wanted) throws IOException {
        try (RocksIterator records = db.newIterator()) {
            for (records.seekToFirst(); records.isValid(); records.next()) {
                byte[] found = records.key();
                if (found.length != Long.BYTES
                        || !wanted.test(ByteBuffer.wrap(found).getLong())) {
                    remove(found);
                }
                if (batch.count() >= RETAIN_BATCH) {
                    commit();
                }
            }
            records.status();
        } catch (RocksDBException e) {
            CorruptionException unreadable = new CorruptionException(
                    folder.toString(), -1, "entries that can be read", "RocksDB: " + e.getMessage());
            unreadable.initCause(e);
            throw unreadable;
        }
    }

    /** Returns the sum of the lengths of the files in the folder, in bytes. */
    static long bytes(Path folder) throws IOException {
        long bytes = 0;
        try {
            for (Path file : FolderEntries.of(folder)) {
                try {
                    bytes += Files.size(file);
                } catch (NoSuchFileException e) {
                    // A compaction deleted it meanwhile: it uses no space any more.
                    continue;
                }
            }
        } catch (NoSuchFileException e) {
            return 0;
        }
        return bytes;
    }

    /** Closes the database. Idempotent. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            closeAll(handles);
        }
    }

    private static void closeAll(Deque<AutoCloseable> handles) {
        while (!handles.isEmpty()) {
            try {
                handles.pop().close();
            } catch (Exception e) {
                throw new AssertionError("a RocksDB handle's close throws nothing", e);
            }
        }
    }

    private static IOException translate(Path folder, RocksDBException e) {
        Status status = e.getStatus();
        String message = folder + ": RocksDB: " + e.getMessage();
        IOException translated;
        if (status != null && status.getSubCode() == Status.SubCode.NoSpace || SystemError.isFullIn(message)) {
            translated = new NoSpaceException(message);
        } else if (status != null && isDamage(status)) {
            translated = new CorruptionException(folder.toString(), -1, "a sound database", message);
        } else {
            translated = new IOException(message);
        }
        translated.initCause(e);
        return translated;
    }

    /**
     * Returns whether the cause is something other than a failure of the disk: files that are missing, truncated, or
     * differ from what was written.
     */
    private static boolean isDamage(Status status) {
        return switch (status.getCode()) {
            case Corruption, NotFound, NotSupported, InvalidArgument -> true;
            case IOError -> SystemError.NO_SUCH_FILE.isIn(status.getState());
            default -> false;
        };
    }
}
