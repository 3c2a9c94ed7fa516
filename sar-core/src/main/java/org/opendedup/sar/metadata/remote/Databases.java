package org.opendedup.sar.metadata.remote;

import java.io.IOException;
import java.nio.file.Path;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStores;

/** Opens the local databases. Their {@link KeyValueStore#changes} rises by one with each change of a batch. */
interface Databases {
    KeyValueStore create(Path folder) throws IOException;

    KeyValueStore open(Path folder) throws IOException;

    /** Opens a copy that {@link KeyValueStore#checkpoint} made, for reading. */
    KeyValueStore look(Path folder) throws IOException;

    /** @param memoryBytes see {@link KeyValueStores#openRocksDb} */
    static Databases rocksDb(long memoryBytes) {
        return new Databases() {
            /** A copy is opened only to learn its number of changes. */
            private static final long LOOK_BYTES = 4 << 20;

            @Override
            public KeyValueStore create(Path folder) throws IOException {
                return KeyValueStores.openRocksDb(folder, memoryBytes, true);
            }

            @Override
            public KeyValueStore open(Path folder) throws IOException {
                return KeyValueStores.openRocksDb(folder, memoryBytes, false);
            }

            @Override
            public KeyValueStore look(Path folder) throws IOException {
                return KeyValueStores.lookIntoRocksDb(folder, LOOK_BYTES);
            }
        };
    }
}
