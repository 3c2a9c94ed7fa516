package org.opendedup.sar.metadata;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.RocksObject;
import org.rocksdb.Slice;
import org.rocksdb.Status;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteBufferManager;
import org.rocksdb.WriteOptions;

/** A RocksDB with one column family for each {@link KeyValueStore.Family}. */
final class RocksDbKeyValueStore implements KeyValueStore {
    /** What a reopening after a crash must replay at most: well below ten seconds on a slow disk. */
    private static final long MAX_WAL_BYTES = 64 << 20;

    /** Of files of 64 MiB: 16 GiB of metadata before one is closed to open another. */
    private static final int MAX_OPEN_FILES = 256;

    private static final double BLOOM_BITS_PER_KEY = 10;

    /** What a reopening writes besides the log's content: manifest, options. */
    private static final long REOPENING_BYTES = 4 << 20;

    private final Path folder;
    private final long memoryBytes;

    /**
     * Held shared by every call and open cursor, exclusively while the database is closed or reopened: native memory must
     * not be touched once it is freed.
     */
    private final ReentrantReadWriteLock lifetime = new ReentrantReadWriteLock();

    /** Null once it is closed, or while it can't be reopened. */
    private @Nullable OpenDatabase open;

    private boolean closed;

    /** Set when a write failed: RocksDB then refuses all further ones, also when the disk has room again. */
    private volatile boolean failed;

    private RocksDbKeyValueStore(Path folder, long memoryBytes, OpenDatabase open) {
        this.folder = folder;
        this.memoryBytes = memoryBytes;
        this.open = open;
    }

    static RocksDbKeyValueStore open(Path folder, long memoryBytes, boolean create) throws IOException {
        boolean exists = Files.exists(folder.resolve("CURRENT"));
        if (create && exists) {
            throw new IOException("there is a metadata database in " + folder + " already");
        }
        if (!create && !exists) {
            throw new CorruptionException(
                    place(folder), -1, "a database", "none; is the disk mounted that it lies on?");
        }
        if (create) {
            Files.createDirectories(folder);
        }
        RocksDB.loadLibrary();
        return new RocksDbKeyValueStore(folder, memoryBytes, openDatabase(folder, memoryBytes, create));
    }

    /**
     * The database and the native objects it needs.
     *
     * @param natives all of them, in the order of their making
     */
    private record OpenDatabase(
            RocksDB database,
            Cache cache,
            Map<Family, ColumnFamilyHandle> families,
            WriteOptions synced,
            List<RocksObject> natives) {
        ColumnFamilyHandle handle(Family family) {
            return Objects.requireNonNull(families.get(family));
        }

        void close() {
            closeAll(natives);
        }
    }

    private static OpenDatabase openDatabase(Path folder, long memoryBytes, boolean create) throws IOException {
        List<RocksObject> natives = new ArrayList<>();
        try {
            return openDatabase(folder, memoryBytes, create, natives);
        } catch (RocksDBException e) {
            closeAll(natives);
            throw translate(folder, e);
        }
    }

    private static OpenDatabase openDatabase(Path folder, long memoryBytes, boolean create, List<RocksObject> natives)
            throws RocksDBException {
        Cache cache = add(natives, new LRUCache(memoryBytes));
        // The write buffers' memory is charged to the cache: together they stay within memoryBytes.
        WriteBufferManager writeBuffers = add(natives, new WriteBufferManager(memoryBytes / 4, cache));
        BloomFilter bloom = add(natives, new BloomFilter(BLOOM_BITS_PER_KEY));
        DBOptions options = add(natives, databaseOptions(writeBuffers, create));
        ColumnFamilyOptions familyOptions = add(natives, familyOptions(cache, bloom));

        List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
        descriptors.add(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, familyOptions));
        for (Family family : Family.values()) {
            byte[] name = family.name().toLowerCase(Locale.ROOT).getBytes(StandardCharsets.US_ASCII);
            descriptors.add(new ColumnFamilyDescriptor(name, familyOptions));
        }
        List<ColumnFamilyHandle> handles = new ArrayList<>();
        RocksDB database = RocksDB.open(options, folder.toString(), descriptors, handles);
        natives.add(database);
        natives.addAll(handles);
        Map<Family, ColumnFamilyHandle> families = new EnumMap<>(Family.class);
        for (Family family : Family.values()) {
            families.put(family, handles.get(1 + families.size()));
        }
        WriteOptions synced = add(natives, new WriteOptions().setSync(true));
        return new OpenDatabase(database, cache, families, synced, natives);
    }

    private static DBOptions databaseOptions(WriteBufferManager writeBuffers, boolean create) {
        return new DBOptions()
                .setCreateIfMissing(create)
                .setCreateMissingColumnFamilies(create)
                .setErrorIfExists(create)
                .setParanoidChecks(true)
                // A power cut may leave the last record of the log cut off: it was not acknowledged, and is dropped.
                // Any
                // other damage of the log would lose acknowledged commits, so the database is refused. Point-in-time
                // recovery would drop them silently; absolute consistency would refuse after every power cut.
                .setWalRecoveryMode(WALRecoveryMode.TolerateCorruptedTailRecords)
                .setMaxTotalWalSize(MAX_WAL_BYTES)
                .setWriteBufferManager(writeBuffers)
                .setMaxOpenFiles(MAX_OPEN_FILES)
                .setMaxBackgroundJobs(2)
                .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
                .setKeepLogFileNum(4);
    }

    /**
     * Filters over whole keys: a name that is looked up before it is created, or an attribute that no file has, costs no
     * disk read. No prefix filters: scans go to directories and files that exist.
     */
    private static ColumnFamilyOptions familyOptions(Cache cache, BloomFilter bloom) {
        BlockBasedTableConfig tables = new BlockBasedTableConfig()
                .setBlockCache(cache)
                .setBlockSize(8 << 10)
                .setFilterPolicy(bloom)
                // In the cache and so under its bound, where they would otherwise grow with the database.
                .setCacheIndexAndFilterBlocks(true)
                .setPinL0FilterAndIndexBlocksInCache(true)
                .setFormatVersion(5);
        return new ColumnFamilyOptions()
                .setTableFormatConfig(tables)
                .setCompressionType(CompressionType.LZ4_COMPRESSION)
                .setTargetFileSizeBase(64 << 20)
                .setLevelCompactionDynamicLevelBytes(true);
    }

    @Override
    public byte @Nullable [] get(Family family, byte[] key) throws IOException {
        OpenDatabase entered = enter();
        try {
            return entered.database.get(entered.handle(family), key);
        } catch (RocksDBException e) {
            throw translate(folder, e);
        } finally {
            leave();
        }
    }

    @Override
    public Cursor scan(Family family, byte[] from, byte[] to) throws IOException {
        OpenDatabase entered = enter();
        return new RocksCursor(entered.database, entered.handle(family), from, to);
    }

    @Override
    public Batch batch() {
        return new RocksBatch();
    }

    @Override
    public long nativeBytes() {
        lifetime.readLock().lock();
        try {
            OpenDatabase now = open;
            return now == null
                    ? 0
                    : now.cache.getUsage()
                            + now.database.getAggregatedLongProperty("rocksdb.estimate-table-readers-mem");
        } catch (RocksDBException e) {
            throw new IllegalStateException("RocksDB does not know its own property", e);
        } finally {
            lifetime.readLock().unlock();
        }
    }

    /** Waits for calls and cursors that are under way. */
    @Override
    public void close() {
        lifetime.writeLock().lock();
        try {
            closed = true;
            if (open != null) {
                open.close();
                open = null;
            }
        } finally {
            lifetime.writeLock().unlock();
        }
    }

    /**
     * Makes a database writable again after a failed write. Only a reopening does that, and it writes; so it is not tried
     * while the disk is too full for it, and reads go on.
     */
    void reopen() throws IOException {
        if (lifetime.getReadHoldCount() > 0) {
            throw new IllegalStateException("a thread that holds a cursor can't commit after a failed commit");
        }
        lifetime.writeLock().lock();
        try {
            if (closed) {
                throw closedException();
            }
            requireRoomToReopen();
            if (open != null) {
                open.close();
                open = null;
            }
            open = openDatabase(folder, memoryBytes, false);
            failed = false;
        } finally {
            lifetime.writeLock().unlock();
        }
    }

    private void requireRoomToReopen() throws IOException {
        long needed = REOPENING_BYTES;
        try (DirectoryStream<Path> logs = Files.newDirectoryStream(folder, "*.log")) {
            for (Path log : logs) {
                needed += Files.size(log);
            }
        }
        long usable = Files.getFileStore(folder).getUsableSpace();
        if (usable < needed) {
            throw new NoSpaceException(place(folder) + ": writes failed before, and going on needs " + needed
                    + " free bytes on the disk; there are " + usable);
        }
    }

    /** To be followed by {@link #leave}. */
    private OpenDatabase enter() throws IOException {
        lifetime.readLock().lock();
        OpenDatabase now = open;
        if (now == null) {
            lifetime.readLock().unlock();
            throw closedException();
        }
        return now;
    }

    private void leave() {
        lifetime.readLock().unlock();
    }

    private IOException closedException() {
        return new IOException(place(folder) + (closed ? " is closed" : " could not be reopened after a failed write"));
    }

    private static <T extends RocksObject> T add(List<RocksObject> natives, T object) {
        natives.add(object);
        return object;
    }

    private static void closeAll(List<RocksObject> natives) {
        Collections.reverse(natives);
        natives.forEach(RocksObject::close);
        natives.clear();
    }

    private static String place(Path folder) {
        return "metadata database in " + folder;
    }

    private static IOException translate(Path folder, RocksDBException e) {
        Status status = e.getStatus();
        String message = String.valueOf(e.getMessage());
        if (status != null && status.getSubCode() == Status.SubCode.NoSpace) {
            return withCause(new NoSpaceException(place(folder) + ": the disk is full (" + message + ")"), e);
        }
        if (status != null && status.getCode() == Status.Code.Corruption) {
            return withCause(
                    new CorruptionException(
                            place(folder),
                            -1,
                            "an intact database",
                            message + "; check the disk, and restore the folder from its last backup"),
                    e);
        }
        return new IOException(place(folder) + ": " + message, e);
    }

    private static IOException withCause(IOException exception, Throwable cause) {
        exception.initCause(cause);
        return exception;
    }

    /** Belongs to the thread that made it, which must close it: it holds the lifetime lock. */
    private final class RocksCursor implements Cursor {
        private final byte[] from;
        private final Slice end;
        private final ReadOptions options;
        private final RocksIterator iterator;
        private boolean started;
        private boolean finished;

        RocksCursor(RocksDB database, ColumnFamilyHandle family, byte[] from, byte[] to) {
            this.from = from;
            end = new Slice(to);
            options = new ReadOptions().setIterateUpperBound(end);
            iterator = database.newIterator(family, options);
        }

        @Override
        public boolean next() throws IOException {
            if (!started) {
                started = true;
                iterator.seek(from);
            } else if (iterator.isValid()) {
                iterator.next();
            }
            if (iterator.isValid()) {
                return true;
            }
            try {
                iterator.status();
            } catch (RocksDBException e) {
                throw translate(folder, e);
            }
            return false;
        }

        @Override
        public byte[] key() {
            requireEntry();
            return iterator.key();
        }

        @Override
        public byte[] value() {
            requireEntry();
            return iterator.value();
        }

        @Override
        public void close() {
            if (!finished) {
                finished = true;
                iterator.close();
                options.close();
                end.close();
                leave();
            }
        }

        private void requireEntry() {
            if (!started || !iterator.isValid()) {
                throw new NoSuchElementException("the cursor stands on no entry");
            }
        }
    }

    private final class RocksBatch implements Batch {
        private final WriteBatch batch = new WriteBatch();

        @Override
        public void put(Family family, byte[] key, byte[] value) throws IOException {
            OpenDatabase entered = enter();
            try {
                batch.put(entered.handle(family), key, value);
            } catch (RocksDBException e) {
                throw translate(folder, e);
            } finally {
                leave();
            }
        }

        @Override
        public void delete(Family family, byte[] key) throws IOException {
            OpenDatabase entered = enter();
            try {
                batch.delete(entered.handle(family), key);
            } catch (RocksDBException e) {
                throw translate(folder, e);
            } finally {
                leave();
            }
        }

        @Override
        public void commit() throws IOException {
            if (failed) {
                reopen();
            }
            OpenDatabase entered = enter();
            try {
                entered.database.write(entered.synced, batch);
            } catch (RocksDBException e) {
                failed = true;
                throw translate(folder, e);
            } finally {
                leave();
            }
        }

        @Override
        public void close() {
            batch.close();
        }
    }
}
