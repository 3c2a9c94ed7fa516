package org.opendedup.sar.sim.bench;

import java.util.function.Consumer;
import org.opendedup.sar.ssd.Cause;
import org.opendedup.sar.ssd.ChunkRequest;
import org.opendedup.sar.ssd.CopyStore;
import org.opendedup.sar.ssd.HotContents;
import org.opendedup.sar.ssd.MapEntry;
import org.opendedup.sar.ssd.MapTable;
import org.opendedup.sar.ssd.OfferAnswer;
import org.opendedup.sar.ssd.PromotionTarget;

/**
 * The Map table of an SSD, without the SSD: what is offered is taken and not kept, so that a benchmark measures the
 * decision alone. {@link #put} adds entries. For one thread.
 */
final class CopiesInMemory implements CopyStore, PromotionTarget, HotContents {
    private final MapTable table = new MapTable();
    private final MapEntry entry = new MapEntry();
    private long liveBytes;

    void put(long chunkId, int length) {
        entry.chunkId = chunkId;
        entry.length = length;
        table.put(entry);
        liveBytes += length;
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
        return OfferAnswer.LANDED;
    }

    @Override
    public boolean contains(long chunkId) {
        return table.contains(chunkId);
    }

    @Override
    public boolean holds(long chunkId) {
        return table.contains(chunkId);
    }

    @Override
    public int copies() {
        return table.size();
    }

    @Override
    public void noteWanted(long chunkId, int count, int saving) {
        table.noteWanted(chunkId, count, saving);
    }

    @Override
    public void read(ChunkRequest request) {
        throw new UnsupportedOperationException("there are no bytes");
    }

    @Override
    public void probe() {}

    @Override
    public void dropDamaged(long chunkId) {
        demote(chunkId);
    }

    @Override
    public void forEach(Consumer<MapEntry> visitor) {
        table.forEach(visitor);
    }

    @Override
    public boolean get(long chunkId, MapEntry into) {
        return table.get(chunkId, into);
    }

    @Override
    public boolean demote(long chunkId) {
        boolean removed = table.remove(chunkId, entry);
        liveBytes -= removed ? entry.length : 0;
        return removed;
    }

    @Override
    public void setCount(long chunkId, int count) {
        table.setCount(chunkId, count);
    }

    @Override
    public void age() {
        table.age();
    }

    @Override
    public int size() {
        return table.size();
    }

    @Override
    public int maxEntries() {
        return Integer.MAX_VALUE;
    }

    @Override
    public long liveBytes() {
        return liveBytes;
    }

    @Override
    public long liveLimitBytes() {
        return Long.MAX_VALUE;
    }

    @Override
    public long damaged() {
        return 0;
    }
}
