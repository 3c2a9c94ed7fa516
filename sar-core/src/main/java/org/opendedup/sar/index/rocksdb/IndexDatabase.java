package org.opendedup.sar.index.rocksdb;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.io.SystemError;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.CompressionType;
import org.rocksdb.DataBlockIndexType;
import org.rocksdb.FlushOptions;
import org.rocksdb.IndexType;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Status;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteBufferManager;
import org.rocksdb.WriteOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The RocksDB database of a chunk index: sets it up, opens and closes it, and translates its failures. Separate from
 * the index so that one place owns the native handles and detects use after closing. Kinds of index that keep other
 * records in one have format versions of their own. Safe for use by many threads.
 */
public final class IndexDatabase implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(IndexDatabase.class);

    static final byte FORMAT_VERSION = 2;

    /** Number of memtables: one receives inserts while the other is written out. */
    private static final int MEMTABLES = 2;

    private static final long MAX_MEMTABLE_BYTES = 64 << 20;
    /** Bits per key in the Bloom filters: one lookup of a new chunk in a hundred reads a block needlessly. */
    private static final double FILTER_BITS = 10;
    /**
     * Number of level-0 tables that triggers a merge: a lookup of a new chunk queries the filter of each. With two
     * instead of RocksDB's four, such a lookup takes a quarter less time; inserts are too few for the additional
     * merging to matter.
     */
    private static final int LEVEL_0_TABLES = 2;

    /** Size of a partition of a filter or of an index. */
    private static final int METADATA_BLOCK_BYTES = 16 << 10;

    private static final int BACKGROUND_JOBS = 2;
    private static final long INFO_LOG_BYTES = 1 << 20;
    /** Name of the marker file in the folder: a damaged block was found, and the database must be rebuilt. */
    private static final String DAMAGED_MARK = "DAMAGED";

    private final Path folder;
    private final RocksDB db;
    private final ReadOptions readOptions = new ReadOptions();
    /**
     * Write without a write-ahead log: the index may lose its newest part. A surviving 'C' record must imply that its
     * container's 'F' records survived. This holds because all records are in one column family: its memtables are
     * written out in the order in which they were filled, each as a whole, and the manifest names a table only after
     * the table was synced. So the records that survive are a prefix of the writes, in their order, and a container's
     * 'F' records are written before its 'C' record. A second column family without atomic flush, or unordered writes,
     * would break this.
     */
    private final WriteOptions writeOptions = new WriteOptions().setDisableWAL(true);

    /** Native handles, in the order in which they are closed once the database is closed. */
    private final Deque<AutoCloseable> handles;

    /** Read lock: the database is in use. Write lock: it is being closed. */
    private final ReadWriteLock lifecycle = new ReentrantReadWriteLock();

    private boolean closed;

    private IndexDatabase(Path folder, RocksDB db, Deque<AutoCloseable> handles) {
        this.folder = folder;
        this.db = db;
        this.handles = handles;
        handles.addFirst(readOptions);
        handles.addFirst(writeOptions);
    }

    /**
     * Opens the database of an exact index.
     *
     * @param memoryBytes bound of block cache and memtables together, in bytes
     */
    static IndexDatabase open(Path folder, long memoryBytes) throws IOException {
        return open(folder, memoryBytes, FORMAT_VERSION);
    }

    /**
     * Opens a database, or creates an empty one.
     *
     * @param memoryBytes bound of block cache and memtables together, in bytes
     * @param formatVersion value of its 'V' record
     * @throws CorruptionException if it is damaged
     * @throws UnsupportedFormatException if its 'V' record has another value
     */
    public static IndexDatabase open(Path folder, long memoryBytes, byte formatVersion) throws IOException {
        RocksDB.loadLibrary();
        PrivateFiles.createFolders(folder);
        if (isMarked(folder)) {
            throw new CorruptionException(
                    folder.toString(), -1, "a sound RocksDB database", "one in which a damaged block was met");
        }
        Deque<AutoCloseable> handles = new ArrayDeque<>();
        Options options = options(memoryBytes, handles);
        try {
            IndexDatabase database = new IndexDatabase(folder, RocksDB.open(options, folder.toString()), handles);
            database.checkFormat(formatVersion);
            return database;
        } catch (RocksDBException e) {
            closeAll(handles);
            throw lacksAFile(e) ? lacking(folder, e) : translate(folder, e);
        }
    }

    /** Returns whether a damaged block of the database in {@code folder} was met. */
    public static boolean isMarked(Path folder) {
        return Files.exists(folder.resolve(DAMAGED_MARK));
    }

    /** Deletes the database in {@code folder}, if there is one. It must not be open. */
    public static void destroy(Path folder) throws IOException {
        RocksDB.loadLibrary();
        if (!Files.exists(folder)) {
            return;
        }
        try (Options options = new Options()) {
            RocksDB.destroyDB(folder.toString(), options);
            Files.deleteIfExists(folder.resolve(DAMAGED_MARK));
        } catch (RocksDBException e) {
            throw translate(folder, e);
        }
    }

    private static Options options(long memoryBytes, Deque<AutoCloseable> handles) {
        long memtables = Math.min(memoryBytes / 3, MEMTABLES * MAX_MEMTABLE_BYTES);
        Cache cache = new LRUCache(memoryBytes);
        // Memtables are charged to the cache, so that both together stay within memoryBytes. The cache's own limit is
        // not strict: a strict limit fails reads when pinned blocks fill the cache.
        WriteBufferManager bufferManager = new WriteBufferManager(memtables, cache);
        BloomFilter filter = new BloomFilter(FILTER_BITS);
        Options options = new Options()
                .setCreateIfMissing(true)
                .setWriteBufferManager(bufferManager)
                .setWriteBufferSize(memtables / MEMTABLES)
                .setMaxWriteBufferNumber(MEMTABLES)
                .setMemtablePrefixBloomSizeRatio(0.05)
                .setMemtableWholeKeyFiltering(true)
                .setLevel0FileNumCompactionTrigger(LEVEL_0_TABLES)
                .setMaxBackgroundJobs(BACKGROUND_JOBS)
                .setMaxOpenFiles(IndexClass.MOST_OPEN_FILES)
                // Otherwise the kernel reads nothing ahead: each block of frame tables would cost a disk a seek.
                .setAdviseRandomOnOpen(false)
                .setLevelCompactionDynamicLevelBytes(true)
                .setCompressionType(CompressionType.NO_COMPRESSION) // fingerprints are random bytes
                .setTableFormatConfig(tableConfig(cache, filter))
                .setBytesPerSync(1 << 20)
                .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
                .setMaxLogFileSize(INFO_LOG_BYTES)
                .setKeepLogFileNum(2);
        handles.add(options);
        handles.add(filter);
        handles.add(bufferManager);
        handles.add(cache);
        return options;
    }

    private static BlockBasedTableConfig tableConfig(Cache cache, BloomFilter filter) {
        // Filters and indexes are in the bounded cache, in partitions. With more chunks than fit, a lookup then loads
        // one partition and not a table's whole filter of 1 MB. Where all of them fit, whole filters would take half
        // the CPU time. Partitions of 16 KiB are between: three quarters of the time with 4 KiB, because a table has
        // fewer of them to search (docs/adr/0058-settings-of-rocksdb.md).
        return new BlockBasedTableConfig()
                .setBlockCache(cache)
                .setBlockSize(4096)
                .setFormatVersion(5)
                .setDataBlockIndexType(DataBlockIndexType.kDataBlockBinaryAndHash)
                .setFilterPolicy(filter)
                .setOptimizeFiltersForMemory(true)
                .setIndexType(IndexType.kTwoLevelIndexSearch)
                .setPartitionFilters(true)
                .setMetadataBlockSize(METADATA_BLOCK_BYTES)
                .setCacheIndexAndFilterBlocks(true)
                .setCacheIndexAndFilterBlocksWithHighPriority(true)
                .setPinTopLevelIndexAndFilter(true)
                .setPinL0FilterAndIndexBlocksInCache(true);
    }

    private void checkFormat(byte formatVersion) throws IOException {
        try {
            byte[] version = db.get(IndexKeys.FORMAT_VERSION);
            if (version == null) {
                requireEmpty();
                db.put(writeOptions, IndexKeys.FORMAT_VERSION, new byte[] {formatVersion});
            } else if (version.length != 1 || version[0] != formatVersion) {
                throw new UnsupportedFormatException(
                        folder.toString(), version.length == 1 ? version[0] & 0xff : -1, formatVersion);
            }
        } catch (RocksDBException e) {
            closeNative();
            throw translate(folder, e);
        } catch (IOException e) {
            closeNative();
            throw e;
        }
    }

    /**
     * Requires an empty database. The version is the first record written, so it survives a crash if any record does.
     */
    private void requireEmpty() throws IOException {
        try (RocksIterator records = db.newIterator(readOptions)) {
            records.seekToFirst();
            if (records.isValid()) {
                throw new IOException(folder
                        + ": a database with records but no format version is not a chunk index; it is not changed");
            }
        }
    }

    /** Looks up every key of {@code query}. */
    void read(ChunkIdQuery query) throws IOException {
        try (Use open = use()) {
            query.run(db, readOptions);
        } catch (RocksDBException e) {
            throw translate(folder, e);
        }
    }

    /** Returns the value of a record; null if there is none. */
    public byte @Nullable [] get(byte[] key) throws IOException {
        try (Use open = use()) {
            return db.get(readOptions, key);
        } catch (RocksDBException e) {
            throw translate(folder, e);
        }
    }

    /** Writes the batch atomically: after a crash, all of it is present or nothing. */
    public void write(WriteBatch batch) throws IOException {
        try (Use open = use()) {
            db.write(writeOptions, batch);
        } catch (RocksDBException e) {
            throw translate(folder, e);
        }
    }

    /** Receives a record. */
    @FunctionalInterface
    public interface RecordVisitor {
        void visit(byte[] key, byte[] value);
    }

    /** Visits the records whose keys begin with {@code prefix}, in ascending order of their keys. */
    public void forEach(byte[] prefix, RecordVisitor visitor) throws IOException {
        scan(prefix, Integer.MAX_VALUE, key -> beginsWith(key, prefix), visitor);
    }

    private static boolean beginsWith(byte[] key, byte[] prefix) {
        return key.length >= prefix.length && Arrays.equals(key, 0, prefix.length, prefix, 0, prefix.length);
    }

    /**
     * Visits the fingerprints and chunk ids of up to {@code count} 'F' records, in ascending order, from {@code key}
     * on.
     */
    void forEachFingerprint(byte[] key, int count, ChunkIndex.EntryVisitor visitor) throws IOException {
        scan(
                key,
                count,
                IndexKeys::isFingerprint,
                (found, value) -> visitor.visit(IndexKeys.fingerprintOf(found), IndexKeys.chunkId(value)));
    }

    /** Visits up to {@code count} records from a key on, as long as their keys are wanted. */
    private void scan(byte[] from, int count, Predicate<byte[]> isWanted, RecordVisitor visitor) throws IOException {
        try (Use open = use();
                ReadOptions onlyOnce = new ReadOptions().setFillCache(false);
                RocksIterator records = db.newIterator(onlyOnce)) {
            records.seek(from);
            for (int i = 0; i < count && records.isValid() && isWanted.test(records.key()); i++) {
                visitor.visit(records.key(), records.value());
                records.next();
            }
            records.status();
        } catch (RocksDBException e) {
            throw translate(folder, e);
        }
    }

    /** Deletes every record except the version, and frees the disk space. */
    public void clear() throws IOException {
        try (Use open = use()) {
            flushMemtables();
            db.deleteFilesInRanges(
                    db.getDefaultColumnFamily(), List.of(IndexKeys.FIRST_CONTENT, IndexKeys.END_CONTENT), false);
            db.deleteRange(writeOptions, IndexKeys.FIRST_CONTENT, IndexKeys.END_CONTENT);
            flushMemtables();
            db.compactRange();
        } catch (RocksDBException e) {
            // The remaining records must not be used: the mark makes the next opening rebuild the index.
            mark(folder);
            throw translate(folder, e);
        }
    }

    /** Writes the memtables to disk and waits until that is done. */
    public void flush() throws IOException {
        try (Use open = use()) {
            flushMemtables();
        } catch (RocksDBException e) {
            throw translate(folder, e);
        }
    }

    private void flushMemtables() throws RocksDBException {
        try (FlushOptions wait = new FlushOptions().setWaitForFlush(true)) {
            db.flush(wait);
        }
    }

    /** Returns RocksDB's estimate of the number of records, from its tables' statistics. */
    long estimatedRecords() {
        return property("rocksdb.estimate-num-keys");
    }

    /** Returns the bytes of the tables. */
    long tableBytes() {
        return property("rocksdb.total-sst-files-size");
    }

    private long property(String name) {
        try (Use open = use()) {
            return db.getLongProperty(name);
        } catch (RocksDBException e) {
            throw new UncheckedIOException(translate(folder, e));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** While it is not closed, the database is open. */
    private interface Use extends AutoCloseable {
        @Override
        void close();
    }

    private Use use() throws IOException {
        lifecycle.readLock().lock();
        if (closed) {
            lifecycle.readLock().unlock();
            throw new IOException(folder + ": the chunk index is closed");
        }
        return lifecycle.readLock()::unlock;
    }

    /** Flushes and closes the database, after calls in progress have ended. Idempotent. */
    @Override
    public void close() throws IOException {
        lifecycle.writeLock().lock();
        try {
            if (!closed) {
                closed = true;
                flushMemtables();
            }
        } catch (RocksDBException e) {
            throw translate(folder, e);
        } finally {
            closeNative();
            lifecycle.writeLock().unlock();
        }
    }

    private void closeNative() {
        db.close();
        closeAll(handles);
    }

    private static void closeAll(Deque<AutoCloseable> handles) {
        while (!handles.isEmpty()) {
            try {
                handles.removeFirst().close();
            } catch (Exception e) {
                throw new AssertionError("a RocksDB handle's close throws nothing", e);
            }
        }
    }

    /**
     * Returns whether a file of the database is missing. The folder existed a moment ago, so the file is a part of the
     * database.
     */
    private static boolean lacksAFile(RocksDBException e) {
        return SystemError.NO_SUCH_FILE.isIn(e.getMessage());
    }

    private static IOException lacking(Path folder, RocksDBException e) {
        CorruptionException lacking = new CorruptionException(
                folder.toString(), -1, "a whole RocksDB database", String.valueOf(e.getMessage()));
        lacking.initCause(e);
        return lacking;
    }

    /**
     * Marks the database as damaged. RocksDB reads a block only when it is needed, so damage is found long after
     * opening. The next opening would not detect it either, and duplicates would be missed permanently: the mark causes
     * a rebuild then.
     */
    private static void mark(Path folder) {
        try {
            PrivateFiles.createEmpty(folder.resolve(DAMAGED_MARK));
        } catch (IOException e) {
            log.warn("the damaged chunk index in {} could not be marked: {}", folder, e.getMessage());
        }
    }

    private static boolean isCorruption(RocksDBException e) {
        Status status = e.getStatus();
        return status != null && status.getCode() == Status.Code.Corruption;
    }

    private static IOException translate(Path folder, RocksDBException e) {
        if (isCorruption(e)) {
            mark(folder);
        }
        IOException translated = isCorruption(e)
                ? new CorruptionException(
                        folder.toString(), -1, "a sound RocksDB database", String.valueOf(e.getMessage()))
                : new IOException(folder + ": RocksDB: " + e.getMessage());
        translated.initCause(e);
        return translated;
    }
}
