package org.opendedup.sar.metadata.db;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.crypt.VolumeKeys;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.SstFileReader;

/** Opens key-value stores. */
public final class KeyValueStores {
    /** Maximum number of open tables of 64 MiB: 16 GiB of metadata until one is closed to open another. */
    public static final int MOST_OPEN_FILES = 256;

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

    /** Returns the file in a database's folder that its user holds locked, and never replaces. */
    public static Path lockOf(Path folder) {
        return folder.resolve(AcknowledgedSequence.NAME);
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
