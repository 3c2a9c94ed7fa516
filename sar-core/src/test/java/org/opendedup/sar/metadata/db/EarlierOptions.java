package org.opendedup.sar.metadata.db;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.LRUCache;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksObject;
import org.rocksdb.WriteBufferManager;
import org.rocksdb.WriteOptions;

/**
 * Makes a database with the options before {@link DatabaseOptions}, close to RocksDB's defaults, for comparison in
 * tests.
 */
final class EarlierOptions {
    private EarlierOptions() {}

    static OpenDatabase create(Path folder, long memoryBytes) throws IOException {
        RocksDB.loadLibrary();
        List<RocksObject> natives = new ArrayList<>();
        LRUCache cache = new LRUCache(memoryBytes);
        natives.add(cache);
        WriteBufferManager writeBuffers = new WriteBufferManager(memoryBytes / 4, cache);
        natives.add(writeBuffers);
        BloomFilter bloom = new BloomFilter(10);
        natives.add(bloom);
        DBOptions options = new DBOptions()
                .setCreateIfMissing(true)
                .setCreateMissingColumnFamilies(true)
                .setWriteBufferManager(writeBuffers)
                .setMaxOpenFiles(256)
                .setMaxBackgroundJobs(2);
        natives.add(options);
        ColumnFamilyOptions familyOptions = new ColumnFamilyOptions()
                .setTableFormatConfig(new BlockBasedTableConfig()
                        .setBlockCache(cache)
                        .setBlockSize(8 << 10)
                        .setFilterPolicy(bloom)
                        .setCacheIndexAndFilterBlocks(true)
                        .setPinL0FilterAndIndexBlocksInCache(true)
                        .setFormatVersion(5))
                .setCompressionType(CompressionType.LZ4_COMPRESSION)
                .setTargetFileSizeBase(64 << 20)
                .setLevelCompactionDynamicLevelBytes(true);
        natives.add(familyOptions);
        List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
        descriptors.add(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, familyOptions));
        for (Family family : Family.values()) {
            byte[] name = family.name().toLowerCase(Locale.ROOT).getBytes(StandardCharsets.US_ASCII);
            descriptors.add(new ColumnFamilyDescriptor(name, familyOptions));
        }
        List<ColumnFamilyHandle> handles = new ArrayList<>();
        RocksDB database;
        CompactionSpace space;
        try {
            space = new CompactionSpace(Files.createDirectories(folder), natives);
            database = RocksDB.open(options, folder.toString(), descriptors, handles);
        } catch (RocksDBException e) {
            throw new IOException(e);
        }
        natives.add(database);
        natives.addAll(handles);
        Map<Family, ColumnFamilyHandle> families = new EnumMap<>(Family.class);
        for (Family family : Family.values()) {
            families.put(family, handles.get(1 + families.size()));
        }
        WriteOptions synced = new WriteOptions().setSync(true);
        natives.add(synced);
        WriteOptions later = new WriteOptions();
        natives.add(later);
        return new OpenDatabase(database, families, synced, later, space, natives);
    }
}
