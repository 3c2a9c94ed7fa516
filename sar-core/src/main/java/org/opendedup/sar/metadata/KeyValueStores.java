package org.opendedup.sar.metadata;

import java.io.IOException;
import java.nio.file.Path;

/** Opens key-value stores. */
public final class KeyValueStores {
    private KeyValueStores() {}

    /**
     * A RocksDB in a folder of its own.
     *
     * @param memoryBytes about what it takes of native memory: block cache and write buffers
     * @param create true to make a new one, which must not exist; false to open one, which must
     * @throws org.opendedup.sar.common.CorruptionException if it is damaged, or not there
     */
    public static KeyValueStore openRocksDb(Path folder, long memoryBytes, boolean create) throws IOException {
        return RocksDbKeyValueStore.open(folder, memoryBytes, create);
    }

    /** A new, empty one in memory: the model of the tests, and a volume without a disk. */
    public static KeyValueStore heap() {
        return new HeapKeyValueStore();
    }
}
