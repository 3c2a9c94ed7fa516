package org.opendedup.sar.metadata.db;

final class HeapKeyValueStoreTest extends KeyValueStoreContract {
    @Override
    KeyValueStore make() {
        return new HeapKeyValueStore();
    }
}
