package org.opendedup.sar.tier;

import java.util.function.Consumer;

/** An {@link SsdStore} as {@link DataDemotion} sees it. */
record StoreContents(SsdStore store, int maxEntries) implements TierContents {
    @Override
    public void forEach(Consumer<MapEntry> visitor) {
        store.table().forEach(visitor);
    }

    @Override
    public boolean contains(long chunkId) {
        return store.contains(chunkId);
    }

    @Override
    public boolean get(long chunkId, MapEntry into) {
        return store.table().get(chunkId, into);
    }

    @Override
    public boolean demote(long chunkId) {
        return store.demote(chunkId);
    }

    @Override
    public void age() {
        store.table().age();
    }

    @Override
    public int size() {
        return store.table().size();
    }

    @Override
    public long liveBytes() {
        return store.liveBytes();
    }

    @Override
    public long liveLimitBytes() {
        return store.liveLimitBytes();
    }

    @Override
    public long damaged() {
        return store.statistics().badRecords();
    }
}
