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

    /** Returns a new, empty store in memory: the model for tests, and the store of a volume without a disk. */
    public static KeyValueStore heap() {
        return new HeapKeyValueStore();
    }
}
