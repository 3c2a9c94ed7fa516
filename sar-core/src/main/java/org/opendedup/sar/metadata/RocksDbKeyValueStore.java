package org.opendedup.sar.metadata;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
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
import java.util.concurrent.locks.Lock;
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

    private final Path folder;
    private final RocksDB database;
    private final Cache cache;
    private final Map<Family, ColumnFamilyHandle> families;
    private final WriteOptions synced;
    /** The database and the native objects it needs, in the order of their making. */
    private final List<RocksObject> natives;

    /**
     * Held shared by every call and open cursor, exclusively by close: native memory must not be touched once it is
     * freed.
     */
    private final ReentrantReadWriteLock lifetime = new ReentrantReadWriteLock();

    private boolean closed;

    private RocksDbKeyValueStore(
            Path folder,
            RocksDB database,
            Cache cache,
            Map<Family, ColumnFamilyHandle> families,
            WriteOptions synced,
            List<RocksObject> natives) {
        this.folder = folder;
        this.database = database;
        this.cache = cache;
        this.families = families;
        this.synced = synced;
        this.natives = natives;
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
        List<RocksObject> natives = new ArrayList<>();
        try {
            return open(folder, memoryBytes, create, natives);
        } catch (RocksDBException e) {
            closeAll(natives);
            throw translate(folder, e);
        }
    }

    private static RocksDbKeyValueStore open(Path folder, long memoryBytes, boolean create, List<RocksObject> natives)
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
            families.put(family, handles.get(1 + family.ordinal()));
        }
        WriteOptions synced = add(natives, new WriteOptions().setSync(true));
        return new RocksDbKeyValueStore(folder, database, cache, families, synced, natives);
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
        Lock shared = enter();
        try {
            return database.get(handle(family), key);
        } catch (RocksDBException e) {
            throw translate(folder, e);
        } finally {
            shared.unlock();
        }
    }

    @Override
    public Cursor scan(Family family, byte[] from, byte[] to) throws IOException {
        enter();
        return new RocksCursor(handle(family), from, to);
    }

    @Override
    public Batch batch() {
        return new RocksBatch();
    }

    @Override
    public long nativeBytes() {
        lifetime.readLock().lock();
        try {
            return closed
                    ? 0
                    : cache.getUsage() + database.getAggregatedLongProperty("rocksdb.estimate-table-readers-mem");
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
            if (!closed) {
                closed = true;
                closeAll(natives);
            }
        } finally {
            lifetime.writeLock().unlock();
        }
    }

    private Lock enter() throws IOException {
        Lock shared = lifetime.readLock();
        shared.lock();
        if (closed) {
            shared.unlock();
            throw new IOException("the metadata database in " + folder + " is closed");
        }
        return shared;
    }

    private ColumnFamilyHandle handle(Family family) {
        return Objects.requireNonNull(families.get(family));
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

        RocksCursor(ColumnFamilyHandle family, byte[] from, byte[] to) {
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
                lifetime.readLock().unlock();
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
            Lock shared = enter();
            try {
                batch.put(handle(family), key, value);
            } catch (RocksDBException e) {
                throw translate(folder, e);
            } finally {
                shared.unlock();
            }
        }

        @Override
        public void delete(Family family, byte[] key) throws IOException {
            Lock shared = enter();
            try {
                batch.delete(handle(family), key);
            } catch (RocksDBException e) {
                throw translate(folder, e);
            } finally {
                shared.unlock();
            }
        }

        @Override
        public void commit() throws IOException {
            Lock shared = enter();
            try {
                database.write(synced, batch);
            } catch (RocksDBException e) {
                throw translate(folder, e);
            } finally {
                shared.unlock();
            }
        }

        @Override
        public void close() {
            batch.close();
        }
    }
}
