package org.opendedup.sar.tier.copies;

import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Timeline;
import org.opendedup.sar.ssd.LogCopies;
import org.opendedup.sar.ssd.MapEntry;
import org.opendedup.sar.ssd.OfferAnswer;
import org.opendedup.sar.ssd.OfferListener;
import org.opendedup.sar.ssd.SsdLogStatistics;
import org.opendedup.sar.ssd.SsdStore;
import org.opendedup.sar.ssd.StoreMemory;

/**
 * An {@link SsdStore} in use.
 *
 * @param memory what it may use
 * @param budget the bound of its SSD, if an index shares it; else null
 */
public record StoredCopies(
        SsdStore store, StoreMemory memory, @Nullable SsdBudget budget) implements AttachedSsd {
    /** Of an SSD that nothing else uses. */
    public StoredCopies(SsdStore store, StoreMemory memory) {
        this(store, memory, null);
    }

    /** Opens stores. */
    public static final class Opener implements AttachedSsd.Opener {
        private final @Nullable SsdBudget budget;

        public Opener() {
            this(null);
        }

        /** @param budget the bound of the SSD, if an index shares it; else null */
        public Opener(@Nullable SsdBudget budget) {
            this.budget = budget;
        }

        @Override
        public void claim(Path location, UUID volume) throws IOException {
            SsdStore.claim(location, volume);
        }

        @Override
        public AttachedSsd open(
                Path location,
                Timeline timeline,
                long capacityBytes,
                StoreMemory memory,
                Runnable makeRoom,
                Consumer<IOException> failure)
                throws IOException {
            long bytes = budget == null ? capacityBytes : budget.place(location, capacityBytes);
            SsdStore store = SsdStore.open(location, timeline, bytes, memory, makeRoom, failure);
            if (budget != null) {
                budget.opened(store::usedBytes, store::resize);
            }
            return new StoredCopies(store, memory, budget);
        }
    }

    @Override
    public int copies() {
        return store.table().size();
    }

    @Override
    public boolean holds(long chunkId) {
        return store.table().contains(chunkId);
    }

    @Override
    public void read(ChunkRequest request) {
        store.read(request);
    }

    @Override
    public void probe() {
        store.probe();
    }

    @Override
    public boolean isReadOnly() {
        return store.isReadOnly();
    }

    @Override
    public void dropDamaged(long chunkId) {
        store.demote(chunkId);
    }

    @Override
    public boolean contains(long chunkId) {
        return store.contains(chunkId);
    }

    @Override
    public OfferAnswer offer(
            long chunkId,
            int fingerprintPrefix,
            int count,
            int saving,
            Cause cause,
            byte[] data,
            int offset,
            int length) {
        return store.offer(chunkId, fingerprintPrefix, count, saving, cause.ordinal(), data, offset, length);
    }

    @Override
    public boolean hasQueueRoom() {
        return store.hasQueueRoom();
    }

    @Override
    public void listen(OfferListener listener) {
        store.listen(listener);
    }

    @Override
    public int maxEntries() {
        return memory.maxEntries();
    }

    @Override
    public void noteWanted(long chunkId, int count, int saving) {
        store.noteWanted(chunkId, count, saving);
    }

    @Override
    public void forEach(Consumer<MapEntry> visitor) {
        store.table().forEach(visitor);
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
    public void setCount(long chunkId, int count) {
        store.table().setCount(chunkId, count);
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
    public long liveLimitBytes() {
        return store.liveLimitBytes();
    }

    @Override
    public long damaged() {
        return store.statistics().badRecords();
    }

    @Override
    public long tableHeapBytes() {
        return store.table().heapBytes();
    }

    @Override
    public long liveBytes() {
        return store.liveBytes();
    }

    @Override
    public long usedBytes() {
        return store.usedBytes();
    }

    @Override
    public void resize(long capacityBytes) {
        store.resize(budget == null ? capacityBytes : budget.bound(capacityBytes));
    }

    @Override
    public LogCopies copiesFrom(int segment, long offset) {
        return store.copiesFrom(segment, offset);
    }

    @Override
    public void verify(LogCopies copies, int from, int to) {
        store.verify(copies, from, to);
    }

    @Override
    public boolean drop(LogCopies copies, int i) {
        return store.drop(copies, i);
    }

    @Override
    public SsdLogStatistics statistics() {
        return store.statistics();
    }

    @Override
    public void close() throws IOException {
        if (budget != null) {
            budget.closed();
        }
        store.close();
    }
}
