package org.opendedup.sar.metadata;

final class HeapKeyValueStoreTest extends KeyValueStoreContract {
    @Override
    KeyValueStore make() {
        return KeyValueStores.heap();
    }
}
