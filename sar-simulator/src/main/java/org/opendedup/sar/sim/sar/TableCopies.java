package org.opendedup.sar.sim.sar;

import java.util.function.Consumer;
import org.opendedup.sar.ssd.ChunkRequest;
import org.opendedup.sar.ssd.CopyStore;
import org.opendedup.sar.ssd.HotContents;
import org.opendedup.sar.ssd.MapEntry;
import org.opendedup.sar.ssd.MapTable;
import org.opendedup.sar.ssd.PromotionTarget;

/** The Map table of an SSD without the SSD: copies have entries and no bytes. For one thread. */
public abstract class TableCopies implements CopyStore, PromotionTarget, HotContents {
    private final MapTable table = new MapTable();
    private final MapEntry removed = new MapEntry();
    private long liveBytes;

    /** Adds a copy; its entry is copied. */
    protected final void put(MapEntry entry) {
        table.put(entry);
        liveBytes += entry.length;
    }

    /** Returns the heap bytes of the table. */
    final long heapBytes() {
        return table.heapBytes();
    }

    @Override
    public boolean contains(long chunkId) {
        return table.contains(chunkId);
    }

    @Override
    public void noteWanted(long chunkId, int count, int saving) {
        table.noteWanted(chunkId, count, saving);
    }

    @Override
    public int copies() {
        return table.size();
    }

    @Override
    public boolean holds(long chunkId) {
        return table.contains(chunkId);
    }

    @Override
    public void read(ChunkRequest request) {
        throw new UnsupportedOperationException("there are no bytes");
    }

    /** Does nothing: there is no SSD that could fail to answer. */
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
        boolean isRemoved = table.remove(chunkId, removed);
        liveBytes -= isRemoved ? removed.length : 0;
        return isRemoved;
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
    public long damaged() {
        return 0;
    }
}
