package org.opendedup.sar.metadata.db;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.crypt.VolumeKeys;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.LiveFileMetaData;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.SstFileReader;
import org.rocksdb.WALRecoveryMode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens key-value stores. */
public final class KeyValueStores {
    /** Maximum number of open tables of 64 MiB: 16 GiB of metadata until one is closed to open another. */
    public static final int MOST_OPEN_FILES = 256;

    private static final Logger log = LoggerFactory.getLogger(KeyValueStores.class);

    private KeyValueStores() {}

    /** Removes the advice from the message of a database that is damaged and cannot be opened. */
    public static String withoutRemedy(String message) {
        return RocksDbErrors.withoutRemedy(message);
    }

    /**
     * Opens a RocksDB database in its own folder.
     *
     * @param memoryBytes approximate native memory for block cache and write buffers, in bytes
     * @param create true to create a new database, which must not exist; false to open one, which must exist
     * @throws org.opendedup.sar.common.CorruptionException if it is damaged, or does not exist
     */
    public static KeyValueStore openRocksDb(Path folder, long memoryBytes, boolean create) throws IOException {
        return RocksDbKeyValueStore.open(folder, memoryBytes, create);
    }

    /**
     * As the other one, through which the records of a volume are read and written.
     *
     * @param keys of an encrypted volume; null: it is not encrypted
     */
    public static KeyValueStore openRocksDb(Path folder, long memoryBytes, boolean create, @Nullable VolumeKeys keys)
            throws IOException {
        return sealed(openRocksDb(folder, memoryBytes, create), keys);
    }

    /**
     * Opens a RocksDB database for reading, and changes nothing in it. It has what a crash left, up to the last whole
     * change. A commit fails.
     *
     * @throws IOException if another process uses it
     * @throws org.opendedup.sar.common.CorruptionException if it is damaged, or does not exist
     */
    public static KeyValueStore lookIntoRocksDb(Path folder, long memoryBytes) throws IOException {
        return RocksDbKeyValueStore.look(folder, memoryBytes);
    }

    /**
     * Returns the store through which the records of a volume are read and written: the store itself, or one that seals
     * them. Closing it closes the store.
     *
     * @param keys of an encrypted volume; null: it is not encrypted
     */
    public static KeyValueStore sealed(KeyValueStore store, @Nullable VolumeKeys keys) {
        return keys == null ? store : new SealedKeyValueStore(store, keys);
    }

    /**
     * Returns a store that closes something else after itself.
     *
     * @param store not {@link #sealed}
     */
    public static KeyValueStore closing(KeyValueStore store, Closing.Step then) {
        return new ClosingKeyValueStore(store, then);
    }

    /**
     * Cuts the logs of a damaged RocksDB database, which no one uses, where the first change is damaged or missing:
     * what is behind belongs to another state.
     *
     * @return the highest number of a change that could be read, also after the damage; 0 if there is none
     * @throws org.opendedup.sar.common.CorruptionException if tables may have changes that follow the damage
     */
    public static long cutLogsAtDamage(Path folder) throws IOException {
        return LogTail.cutAtDamage(folder);
    }

    /** Returns the file in a database's folder that its user holds locked, and never replaces. */
    public static Path lockOf(Path folder) {
        return folder.resolve(AcknowledgedSequence.NAME);
    }

    /**
     * Returns the tables that the manifest of a damaged RocksDB database names, which no one uses: file names, with
     * lengths in bytes. A table need not be there. Empty if the manifest cannot be read.
     */
    public static Map<String, Long> tablesOf(Path folder) {
        RocksDB.loadLibrary();
        List<ColumnFamilyHandle> handles = new ArrayList<>();
        // Such an opening reads no table, and none has to be there.
        try (Options names = new Options();
                DBOptions options = new DBOptions()
                        .setParanoidChecks(false)
                        .setWalRecoveryMode(WALRecoveryMode.PointInTimeRecovery)
                        .setMaxOpenFiles(MOST_OPEN_FILES);
                ColumnFamilyOptions family = new ColumnFamilyOptions()) {
            List<ColumnFamilyDescriptor> families = new ArrayList<>();
            for (byte[] name : RocksDB.listColumnFamilies(names, folder.toString())) {
                families.add(new ColumnFamilyDescriptor(name, family));
            }
            Map<String, Long> tables = new TreeMap<>();
            if (families.isEmpty()) {
                return tables;
            }
            try (RocksDB database = RocksDB.openReadOnly(options, folder.toString(), families, handles)) {
                for (LiveFileMetaData table : database.getLiveFilesMetaData()) {
                    tables.put(table.fileName().replace("/", ""), table.size());
                }
                handles.forEach(ColumnFamilyHandle::close);
            }
            return tables;
        } catch (RocksDBException e) {
            log.debug("the tables of {} are not known", folder, e);
            return Map.of();
        }
    }

    /**
     * Reads a table of a RocksDB database completely and verifies the checksums of its blocks. The table may be in use.
     *
     * @throws org.opendedup.sar.common.CorruptionException if it is damaged
     */
    public static void verifyTable(Path table) throws IOException {
        RocksDB.loadLibrary();
        try (Options options = new Options();
                SstFileReader reader = new SstFileReader(options)) {
            reader.open(table.toString());
            reader.verifyChecksum();
        } catch (RocksDBException e) {
            throw RocksDbErrors.translate(table, e);
        }
    }
}
