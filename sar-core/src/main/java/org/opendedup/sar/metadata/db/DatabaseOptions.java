package org.opendedup.sar.metadata.db;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.IndexType;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksObject;
import org.rocksdb.TablePropertiesCollectorFactory;
import org.rocksdb.WriteBufferManager;

/**
 * The options of the metadata database, except those for recovery, which its opener sets. They bound its memory and
 * determine the cost of a cold read (docs/adr/0027-cold-metadata.md).
 */
final class DatabaseOptions {
    /**
     * The cache's part of the memory, in quarters. The rest is for memory that RocksDB does not charge to the cache:
     * the batch of a commit, readers of tables, buffers of flushes and compactions.
     */
    private static final int CACHE_QUARTERS = 3;

    /** Divisor of the memory for the write buffers of all families together, which are charged to the cache. */
    private static final int MEMORY_PER_WRITE_BUFFERS = 4;

    /** Divisor of that size for one family's write buffer: while one is written out, as much remains for the others. */
    private static final int WRITE_BUFFERS_PER_FAMILY = 2;

    /**
     * Block size in which a write buffer allocates memory, in bytes: ten families with one record each take less than a
     * megabyte.
     */
    private static final long ARENA_BLOCK_BYTES = 64 << 10;

    /**
     * Minimum size of a cache shard, in bytes: evenly distributed lookups then fill all shards evenly, and no block
     * takes more than a few permille of one.
     */
    private static final long LEAST_SHARD_BYTES = 32 << 20;

    private static final int MAX_SHARD_BITS = 6;

    /** Fraction of the cache that is reserved for indexes and filters, against blocks of records. */
    private static final double HIGH_PRIORITY = 0.5;

    private static final long BLOCK_BYTES = 4 << 10;

    /** Size of one partition of an index or a filter, in bytes: a cold lookup reads one partition of each. */
    private static final long PARTITION_BYTES = 4 << 10;

    /**
     * Bits per key in the Bloom filters: one in a hundred lookups of a name that does not exist reads a block of
     * records needlessly.
     */
    private static final double BLOOM_BITS_PER_KEY = 10;

    /**
     * Families in which every lookup is for a record that exists, or that has a higher number than all existing ones.
     * The last level, nine tenths of all records, needs no filters there: they took as much memory as they saved reads.
     */
    private static final Set<Family> ASKED_FOR_WHAT_EXISTS =
            EnumSet.of(Family.INODE, Family.RECIPE, Family.COUNT, Family.CONTAINER);

    /**
     * Families in which a record is looked up immediately before its creation; their write buffers also have filters.
     */
    private static final Set<Family> ASKED_BEFORE_MADE = EnumSet.of(Family.ENTRY, Family.RECIPE);

    /** Fraction of a write buffer that such a filter uses: about ten bits per name. */
    private static final double BUFFER_FILTER = 0.02;

    private static final long TABLE_BYTES = 64 << 20;

    /**
     * Divisor of a small device's size for the maximum size of write buffers, and so of tables. One compaction, which
     * writes as much as it reads, then fits into the space that is reserved there: four tables of the first level, and
     * the tables that they overlap.
     */
    private static final int DEVICE_PER_WRITE_BUFFER = 256;

    private static final int TABLES_PER_WRITE_BUFFER = 2;
    private static final int WRITE_BUFFERS_PER_LEVEL = 4;
    /** Size of the first level that is sorted as a whole, in bytes; RocksDB's default. */
    private static final long LEVEL_BYTES = 256 << 20;

    /**
     * Deletion marks among {@link #WINDOW} consecutive records that cause a table to be merged with the records they
     * delete.
     */
    private static final int MANY_MARKS = 4096;

    private static final int WINDOW = 8192;

    /**
     * Size of the buffer of each file that is read while tables are merged, in bytes; there may be a dozen such files.
     */
    private static final long MERGE_BUFFER_BYTES = 512 << 10;

    /**
     * Maximum manifest size, in bytes. A longer one is rewritten if its new content takes less than a sixth of this: it
     * is read completely at each opening.
     */
    static final long MAX_MANIFEST_BYTES = 1 << 20;

    private static final long INFO_LOG_BYTES = 1 << 20;
    private static final int BACKGROUND_JOBS = 2;

    private final List<RocksObject> natives;
    private final long memoryBytes;
    private final long smallBufferBytes;
    private final Cache cache;
    private final BloomFilter bloom;

    /**
     * @param memoryBytes bound of the database's native memory, in bytes
     * @param deviceBytes size of the device that holds the database, in bytes; 0 if unknown
     * @param natives receives all native objects that are created, in the order of their creation; the caller must
     *     close them
     */
    DatabaseOptions(long memoryBytes, long deviceBytes, List<RocksObject> natives) {
        this.natives = natives;
        this.memoryBytes = memoryBytes;
        smallBufferBytes = deviceBytes == 0
                ? TABLE_BYTES * TABLES_PER_WRITE_BUFFER
                : Math.max(ARENA_BLOCK_BYTES, deviceBytes / DEVICE_PER_WRITE_BUFFER);
        cache = add(new LRUCache(cacheBytes(memoryBytes), shardBits(cacheBytes(memoryBytes)), false, HIGH_PRIORITY));
        bloom = add(new BloomFilter(BLOOM_BITS_PER_KEY));
    }

    private static long cacheBytes(long memoryBytes) {
        return memoryBytes / 4 * CACHE_QUARTERS;
    }

    /**
     * Returns the number of cache shards for a cache size. Each shard has a lock. RocksDB creates 64 regardless of the
     * size; a block that is larger than a shard, or than the space that other blocks leave in it, is read again each
     * time.
     *
     * @return number of shards, as an exponent of two
     */
    static int shardBits(long cacheBytes) {
        int bits = 0;
        while (bits < MAX_SHARD_BITS && cacheBytes >> bits + 1 >= LEAST_SHARD_BYTES) {
            bits++;
        }
        return bits;
    }

    Cache cache() {
        return cache;
    }

    DBOptions ofDatabase() {
        long writeBuffers = memoryBytes / MEMORY_PER_WRITE_BUFFERS;
        return add(new DBOptions())
                // Write buffers are charged to the cache: together they stay within its bound.
                .setWriteBufferManager(add(new WriteBufferManager(writeBuffers, cache)))
                .setMaxOpenFiles(KeyValueStores.MOST_OPEN_FILES)
                // Otherwise the kernel reads nothing ahead: each block of a recipe would cost a disk a seek.
                .setAdviseRandomOnOpen(false)
                .setMaxBackgroundJobs(BACKGROUND_JOBS)
                .setCompactionReadaheadSize(MERGE_BUFFER_BYTES)
                .setMaxManifestFileSize(MAX_MANIFEST_BYTES)
                .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
                .setMaxLogFileSize(INFO_LOG_BYTES)
                .setKeepLogFileNum(4);
    }

    ColumnFamilyOptions of(Family family) {
        return ofFamily()
                .setOptimizeFiltersForHits(ASKED_FOR_WHAT_EXISTS.contains(family))
                .setMemtableWholeKeyFiltering(true)
                .setMemtablePrefixBloomSizeRatio(ASKED_BEFORE_MADE.contains(family) ? BUFFER_FILTER : 0);
    }

    /** Returns the options of the default family, which every RocksDB has. */
    ColumnFamilyOptions ofFamily() {
        long writeBuffer = memoryBytes / MEMORY_PER_WRITE_BUFFERS / WRITE_BUFFERS_PER_FAMILY;
        return add(withCompactionOfDeletions())
                .setTableFormatConfig(tables())
                .setWriteBufferSize(Math.min(writeBuffer, smallBufferBytes))
                .setArenaBlockSize(ARENA_BLOCK_BYTES)
                .setCompressionType(CompressionType.LZ4_COMPRESSION)
                .setTargetFileSizeBase(Math.min(TABLE_BYTES, smallBufferBytes / TABLES_PER_WRITE_BUFFER))
                .setMaxBytesForLevelBase(Math.min(LEVEL_BYTES, smallBufferBytes * WRITE_BUFFERS_PER_LEVEL))
                .setLevelCompactionDynamicLevelBytes(true);
    }

    /**
     * Makes RocksDB compact tables with many deletions. A listing of an emptied folder steps over the deletion mark of
     * each removed name until the marks are merged with the records they delete. With compaction by size alone this may
     * never happen.
     */
    private static ColumnFamilyOptions withCompactionOfDeletions() {
        // Only these options accept the factory; a family's options are copied from them.
        try (TablePropertiesCollectorFactory marks =
                        TablePropertiesCollectorFactory.NewCompactOnDeletionCollectorFactory(WINDOW, MANY_MARKS, 0);
                Options options = new Options()) {
            options.setTablePropertiesCollectorFactory(List.of(marks));
            return new ColumnFamilyOptions(options);
        }
    }

    /**
     * Returns the table options. Filters over whole keys: a lookup of a name before its creation, or of an attribute
     * that no file has, costs no disk read. No prefix filters: scans are for directories and files that exist.
     */
    private BlockBasedTableConfig tables() {
        return new BlockBasedTableConfig()
                .setBlockCache(cache)
                .setBlockSize(BLOCK_BYTES)
                .setFilterPolicy(bloom)
                .setOptimizeFiltersForMemory(true)
                // In partitions of one block each: whole ones are megabytes per table, and a cold lookup reads a whole
                // one.
                .setIndexType(IndexType.kTwoLevelIndexSearch)
                .setPartitionFilters(true)
                .setMetadataBlockSize(PARTITION_BYTES)
                // In the cache and so within its bound; elsewhere they would grow with the database.
                .setCacheIndexAndFilterBlocks(true)
                .setCacheIndexAndFilterBlocksWithHighPriority(true)
                .setPinTopLevelIndexAndFilter(true)
                .setPinL0FilterAndIndexBlocksInCache(true)
                .setFormatVersion(5);
    }

    private <T extends RocksObject> T add(T object) {
        natives.add(object);
        return object;
    }
}
