package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.StoredContainer.State;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.metadata.record.MetadataHeader;

/** Tests with metadata in a new database that can lose power. */
abstract class MetadataTest {
    static final MetadataHeader HEADER = new MetadataHeader(new UUID(1, 2), 65536, 3, MetadataHeader.FORMAT_VERSION);
    static final long CACHE_BYTES = 100_000;
    static final StoredContainer OPEN = stored(State.OPEN, 4096, 1000);
    static final StoredContainer SEALED = stored(State.SEALED, 8192, 3000);

    CrashKeyValueStore database = new CrashKeyValueStore();
    MetadataStore store = MetadataStore.format(database, HEADER);

    MetadataTest() throws IOException {}

    static StoredContainer stored(State state, long offset, long bytes) {
        return new StoredContainer(new Writing(0x1122334455667788L, 1), state, 1026, offset, bytes, 12, 2 * bytes);
    }

    final void commit() throws IOException {
        store.commit(store.freeze());
    }

    final void commit(Map<Long, StoredContainer> stored, Long... removed) throws IOException {
        store.commit(store.freeze(), new ContainerChanges(stored, Set.of(removed)));
    }

    /** Stores a chunk, to which something refers. */
    final void reference(long container, int slot, int length) throws IOException {
        store.counts().addNew(ChunkId.of(container, slot), length, 0);
        store.counts().add(ChunkId.of(container, slot), 1);
    }

    final void tombstoneAll(long container) throws IOException {
        store.counts().condemn(container, 12);
        store.counts().tombstoneCondemned(container);
    }
}
