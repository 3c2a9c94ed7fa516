package org.opendedup.sar.metadata;

import static org.opendedup.sar.metadata.RocksDbKeyValueStore.place;
import static org.opendedup.sar.metadata.RocksDbKeyValueStore.translate;

import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.KeyValueStore.Family;
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
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksObject;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteBufferManager;
import org.rocksdb.WriteOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The database and the native objects it needs.
 *
 * @param natives all of them, in the order of their making
 */
record OpenDatabase(
        RocksDB database, Map<Family, ColumnFamilyHandle> families, WriteOptions synced, List<RocksObject> natives)
        implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(OpenDatabase.class);

    /** What a reopening after a crash must replay at most: well below ten seconds on a slow disk. */
    private static final long MAX_WAL_BYTES = 64 << 20;

    /** On a small device the log takes at most this part of it, so that replaying it, which writes as much again, fits. */
    private static final int DEVICE_PER_WAL = 32;

    /** Of files of 64 MiB: 16 GiB of metadata before one is closed to open another. */
    private static final int MAX_OPEN_FILES = 256;

    private static final double BLOOM_BITS_PER_KEY = 10;

    ColumnFamilyHandle handle(Family family) {
        return Objects.requireNonNull(families.get(family));
    }

    @Override
    public void close() {
        closeAll(natives);
    }

    /** What a database is opened for. */
    private enum Opening {
        CREATE,
        USE,
        /** Replays the logs up to the first damage, and changes nothing. */
        LOOK
    }

    static OpenDatabase create(Path folder, long memoryBytes) throws IOException {
        return open(folder, memoryBytes, Opening.CREATE, "");
    }

    /**
     * Opens a database after cutting off what a power cut left of a record that was never acknowledged.
     *
     * @throws CorruptionException if anything that was acknowledged is damaged or missing
     */
    static OpenDatabase recover(Path folder, long memoryBytes, AcknowledgedSequence acknowledged) throws IOException {
        List<LogTail.Cut> manifest = LogTail.ofManifest(folder).cuts();
        LogTail logs = LogTail.ofLogs(folder);
        if (!manifest.isEmpty() || !logs.cuts().isEmpty()) {
            cut(folder, memoryBytes, acknowledged, manifest, logs.cuts());
        }
        OpenDatabase opened = open(folder, memoryBytes, Opening.USE, logs.damage());
        try {
            acknowledged.requireIn(opened.lastSequence(), place(folder), "its logs end there");
        } catch (CorruptionException e) {
            opened.close();
            throw e;
        }
        acknowledged.raise(opened.lastSequence());
        return opened;
    }

    /** Cuts the manifest, by which RocksDB finds what lies where, to see whether all that was acknowledged is there without the ends. */
    private static void cut(
            Path folder,
            long memoryBytes,
            AcknowledgedSequence acknowledged,
            List<LogTail.Cut> manifest,
            List<LogTail.Cut> logs)
            throws IOException {
        List<LogTail.Cut> all = Stream.concat(manifest.stream(), logs.stream()).toList();
        List<byte[]> rests = new ArrayList<>();
        try {
            for (LogTail.Cut cut : manifest) {
                rests.add(cut.rest());
                cut.apply();
            }
            try (OpenDatabase look = open(folder, memoryBytes, Opening.LOOK, "damaged is " + all)) {
                acknowledged.requireIn(look.lastSequence(), place(folder), "damaged is " + all);
            }
        } catch (IOException e) {
            for (int i = 0; i < rests.size(); i++) {
                manifest.get(i).undo(rests.get(i));
            }
            throw e;
        }
        for (LogTail.Cut cut : logs) {
            cut.apply();
        }
        log.warn("{}: cut off what a crash left of writes that were never acknowledged: {}", folder, all);
    }

    /** The number of the last change that is durable; every change is one more than that before. */
    long lastSequence() {
        return database.getLatestSequenceNumber();
    }

    /** @param damage what is known to be damaged, in words, or empty */
    private static OpenDatabase open(Path folder, long memoryBytes, Opening opening, String damage) throws IOException {
        RocksDB.loadLibrary();
        List<RocksObject> natives = new ArrayList<>();
        try {
            return open(folder, memoryBytes, opening, natives);
        } catch (RocksDBException e) {
            closeAll(natives);
            throw translate(folder, damage.isEmpty() ? e.getMessage() : damage + " (" + e.getMessage() + ")", e);
        }
    }

    private static OpenDatabase open(Path folder, long memoryBytes, Opening opening, List<RocksObject> natives)
            throws RocksDBException {
        Cache cache = add(natives, new LRUCache(memoryBytes));
        // The write buffers' memory is charged to the cache: together they stay within memoryBytes.
        WriteBufferManager writeBuffers = add(natives, new WriteBufferManager(memoryBytes / 4, cache));
        BloomFilter bloom = add(natives, new BloomFilter(BLOOM_BITS_PER_KEY));
        DBOptions options =
                add(natives, databaseOptions(writeBuffers, opening).setMaxTotalWalSize(maxLogBytes(folder)));
        ColumnFamilyOptions familyOptions = add(natives, familyOptions(cache, bloom));

        List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
        descriptors.add(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, familyOptions));
        for (Family family : Family.values()) {
            byte[] name = family.name().toLowerCase(Locale.ROOT).getBytes(StandardCharsets.US_ASCII);
            descriptors.add(new ColumnFamilyDescriptor(name, familyOptions));
        }
        List<ColumnFamilyHandle> handles = new ArrayList<>();
        RocksDB database = opening == Opening.LOOK
                ? RocksDB.openReadOnly(options, folder.toString(), descriptors, handles)
                : RocksDB.open(options, folder.toString(), descriptors, handles);
        natives.add(database);
        natives.addAll(handles);
        Map<Family, ColumnFamilyHandle> families = new EnumMap<>(Family.class);
        for (Family family : Family.values()) {
            families.put(family, handles.get(1 + families.size()));
        }
        WriteOptions synced = add(natives, new WriteOptions().setSync(true));
        return new OpenDatabase(database, families, synced, natives);
    }

    private static long maxLogBytes(Path folder) {
        long deviceBytes = folder.toFile().getTotalSpace();
        return deviceBytes == 0 ? MAX_WAL_BYTES : Math.min(MAX_WAL_BYTES, deviceBytes / DEVICE_PER_WAL);
    }

    private static DBOptions databaseOptions(WriteBufferManager writeBuffers, Opening opening) {
        return new DBOptions()
                .setCreateIfMissing(opening == Opening.CREATE)
                .setCreateMissingColumnFamilies(opening == Opening.CREATE)
                .setErrorIfExists(opening == Opening.CREATE)
                .setParanoidChecks(true)
                // What a power cut leaves of an unacknowledged record was cut off before (LogTail): any other damage
                // would
                // lose acknowledged commits, so the database is refused.
                .setWalRecoveryMode(
                        opening == Opening.LOOK
                                ? WALRecoveryMode.PointInTimeRecovery
                                : WALRecoveryMode.AbsoluteConsistency)
                // LogTail takes what lies behind damage in a log for the same log's.
                .setRecycleLogFileNum(0)
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

    private static <T extends RocksObject> T add(List<RocksObject> natives, T object) {
        natives.add(object);
        return object;
    }

    private static void closeAll(List<RocksObject> natives) {
        Collections.reverse(natives);
        natives.forEach(RocksObject::close);
        natives.clear();
    }
}
