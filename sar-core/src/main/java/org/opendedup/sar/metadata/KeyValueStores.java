package org.opendedup.sar.metadata;

import java.io.IOException;
import java.nio.file.Path;

/** Opens key-value stores. */
public final class KeyValueStores {
    private KeyValueStores() {}

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

    /** Returns a new, empty store in memory: the model for tests, and the store of a volume without a disk. */
    public static KeyValueStore heap() {
        return new HeapKeyValueStore();
    }
}
