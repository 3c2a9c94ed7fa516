package org.opendedup.sar.hot.copies;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.opendedup.sar.ssd.Cause;
import org.opendedup.sar.ssd.HotContents;
import org.opendedup.sar.ssd.MapEntry;
import org.opendedup.sar.ssd.OfferAnswer;
import org.opendedup.sar.ssd.PromotionTarget;

/**
 * An SSD in memory, without a log: an offered chunk is in its table at once. For one thread at a time, except what
 * locks.
 */
public final class FakeSsd implements PromotionTarget, HotContents {
    /** Bytes of a record in addition to its chunk. */
    public static final int OVERHEAD_BYTES = 24;

    public final Map<Long, MapEntry> entries = new HashMap<>();
    public final Map<Long, byte[]> bytes = new HashMap<>();
    private final long liveLimitBytes;
    private long liveBytes;
    public volatile OfferAnswer answer = OfferAnswer.TAKEN;
    /** Offers so far, whatever the answers. */
    public final AtomicInteger offers = new AtomicInteger();

    public long offeredBytes;
    public int ageings;
    public int maxEntries = 1 << 20;
    public Runnable makeRoom = () -> {};

    public FakeSsd(long liveLimitBytes) {
        this.liveLimitBytes = liveLimitBytes;
    }

    @Override
    public boolean isAvailable() {
        return answer != OfferAnswer.UNAVAILABLE;
    }

    @Override
    public synchronized boolean contains(long chunkId) {
        return entries.containsKey(chunkId);
    }

    @Override
    public boolean hasQueueRoom() {
        return answer != OfferAnswer.QUEUE_FULL;
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
        offers.incrementAndGet();
        if (answer != OfferAnswer.TAKEN) {
            return answer;
        }
        synchronized (this) {
            if (entries.containsKey(chunkId)) {
                return OfferAnswer.PRESENT;
            }
            byte[] copy = new byte[length];
            System.arraycopy(data, offset, copy, 0, length);
            bytes.put(chunkId, copy);
            offeredBytes += length;
            add(chunkId, count, saving, 1, length);
        }
        if (liveBytes() > liveLimitBytes) {
            makeRoom.run();
        }
        return OfferAnswer.LANDED;
    }

    public synchronized void add(long chunkId, int count, int saving, int heat, int length) {
        MapEntry entry = new MapEntry();
        entry.chunkId = chunkId;
        entry.count = Math.min(count, 0xffff);
        entry.saving = saving;
        entry.heat = heat;
        entry.length = length + OVERHEAD_BYTES;
        entries.put(chunkId, entry);
        liveBytes += entry.length;
    }

    @Override
    public synchronized void noteWanted(long chunkId, int count, int saving) {
        MapEntry entry = entries.get(chunkId);
        if (entry != null) {
            entry.count = Math.max(entry.count, Math.min(count, 0xffff));
            entry.saving = Math.max(entry.saving, saving);
            entry.heat = Math.min(255, entry.heat + 1);
        }
    }

    @Override
    public synchronized void forEach(Consumer<MapEntry> visitor) {
        entries.values().forEach(visitor);
    }

    @Override
    public synchronized boolean get(long chunkId, MapEntry into) {
        MapEntry entry = entries.get(chunkId);
        if (entry == null) {
            return false;
        }
        into.chunkId = chunkId;
        into.count = entry.count;
        into.saving = entry.saving;
        into.heat = entry.heat;
        into.length = entry.length;
        return true;
    }

    @Override
    public long damaged() {
        return 3;
    }

    @Override
    public synchronized boolean demote(long chunkId) {
        MapEntry gone = entries.remove(chunkId);
        bytes.remove(chunkId);
        liveBytes -= gone == null ? 0 : gone.length;
        return gone != null;
    }

    @Override
    public synchronized void setCount(long chunkId, int count) {
        MapEntry entry = entries.get(chunkId);
        if (entry != null) {
            entry.count = Math.min(count, 0xffff);
        }
    }

    @Override
    public synchronized void age() {
        ageings++;
        entries.values().forEach(entry -> entry.heat >>= 1);
    }

    @Override
    public synchronized int size() {
        return entries.size();
    }

    @Override
    public int maxEntries() {
        return maxEntries;
    }

    @Override
    public synchronized long liveBytes() {
        return liveBytes;
    }

    @Override
    public long liveLimitBytes() {
        return liveLimitBytes;
    }
}
