package org.opendedup.sar.sim.sar;

import java.io.Closeable;
import java.io.IOException;
import java.util.function.Consumer;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.sim.block.BlockRequest;
import org.opendedup.sar.ssd.MapEntry;
import org.opendedup.sar.ssd.MapTable;
import org.opendedup.sar.ssd.OfferAnswer;
import org.opendedup.sar.tier.ChunkRequest;
import org.opendedup.sar.tier.CopyStore;
import org.opendedup.sar.tier.CountSource;
import org.opendedup.sar.tier.DataDemotion;
import org.opendedup.sar.tier.DataDistributor;
import org.opendedup.sar.tier.LruList;
import org.opendedup.sar.tier.PromotionTarget;
import org.opendedup.sar.tier.SelectivePromotion;
import org.opendedup.sar.tier.Source;
import org.opendedup.sar.tier.SsdHealth;
import org.opendedup.sar.tier.TierContents;
import org.opendedup.sar.tier.TierSettings;

/**
 * The volume's own promotion, demotion, distribution, LRU list and Map table, on an SSD that has no time. The one class of the
 * simulator that knows them. A chunk's id is its place: 1024 blocks make a container, each block a frame of its own. For one thread.
 */
final class SarTier implements Closeable {
    private static final int SLOT_BITS = 10;
    private static final int BLOCK = BlockRequest.BLOCK_BYTES;
    /** SAR paper §3.4. */
    private static final int MAX_RUN_BYTES = 128 << 10;
    /** SAR paper §4.5.2. */
    private static final int LRU_ENTRIES = 1_000_000;

    private static final DataDistributor.FrameFinder FRAMES = ChunkId::slot;

    private final byte[] data = new byte[BLOCK];
    private final ChunkRequest request = new ChunkRequest();
    private final Copies copies;
    private final LruList recentReads;
    private final DataDemotion demotion;
    private final SelectivePromotion promotion;
    private final DataDistributor distributor;
    private final CountSource counts;

    /**
     * What deserves the SSD.
     *
     * @param byCost by disk time saved per byte; else by count, the paper's rule
     * @param threshold references from which the paper's rule promotes
     */
    record Rule(boolean byCost, int threshold) {}

    /** @param map asked for the references of chunks */
    SarTier(long ssdBytes, Rule rule, DedupMap map) {
        TierSettings settings = new TierSettings(
                true,
                ssdBytes,
                rule.threshold(),
                MAX_RUN_BYTES,
                true,
                LRU_ENTRIES,
                rule.byCost() ? TierSettings.Policy.COST : TierSettings.Policy.REFERENCE_COUNT);
        counts = chunkId -> map.referencesAt(place(chunkId));
        copies = new Copies(settings.capacityBytes());
        recentReads = new LruList(settings.lruEntries());
        demotion = new DataDemotion(() -> copies, settings, counts, "simulation");
        copies.makeRoom = demotion::makeRoom;
        promotion = new SelectivePromotion(settings, copies, demotion, recentReads::noteRead);
        distributor = new DataDistributor(() -> copies, "simulation", SsdHealth.IGNORED);
    }

    private static long place(long chunkId) {
        return ((ChunkId.container(chunkId) - 1) << SLOT_BITS) + ChunkId.slot(chunkId);
    }

    private static long chunkId(long place) {
        return ChunkId.of((place >>> SLOT_BITS) + 1, (int) (place % (1 << SLOT_BITS)));
    }

    /** Begins a request. */
    void begin() {
        request.clear();
    }

    /** Adds the chunk at a place, with its references by now. */
    void add(long place, int references) {
        request.add(chunkId(place), BLOCK, 0, -1);
        request.setReferences(request.count() - 1, references);
    }

    /** The chunks added were written again. */
    void written() {
        setData();
        promotion.written(0, request);
        awaitDemotion();
    }

    /** Decides where the chunks added are read from: then {@link #isOnSsd} tells. */
    void distribute() throws IOException {
        distributor.split(request, FRAMES);
    }

    int count() {
        return request.count();
    }

    boolean isOnSsd(int i) {
        return request.source(i) == Source.SSD;
    }

    long place(int i) {
        return place(request.chunkId(i));
    }

    /** Whether a copy lies on the SSD right behind the copy of the chunk before. */
    boolean followsOnSsd(int i) {
        return copies.follows(request.chunkId(i - 1), request.chunkId(i));
    }

    /** The chunks added were read from where they were sent. */
    void read() {
        setData();
        promotion.read(request, counts);
        awaitDemotion();
    }

    private void setData() {
        for (int i = 0; i < request.count(); i++) {
            request.setData(i, data, 0, BLOCK);
        }
    }

    /** What lay at a place was overwritten: its copy is of no use. */
    void overwritten(long place) {
        copies.demote(chunkId(place));
    }

    /** What the background thread has to do is done before the next request, so that each run is like the other. */
    private void awaitDemotion() {
        try {
            demotion.awaitIdle();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while chunks were demoted", e);
        }
    }

    /** Bytes promoted since the last call. */
    long takePromotedBytes() {
        long bytes = copies.promotedBytes;
        copies.promotedBytes = 0;
        return bytes;
    }

    /** Heap bytes of Map table and LRU list. */
    long heapBytes() {
        return copies.table.heapBytes() + recentReads.heapBytes();
    }

    @Override
    public void close() {
        demotion.close();
        distributor.close();
    }

    /**
     * The SSD as the policies see it: a Map table, and a log of which only the head's place is known. All of its capacity is for records;
     * the volume leaves some for cleaning.
     */
    private static final class Copies implements CopyStore, PromotionTarget, TierContents {
        private static final int SEGMENT_BYTES = 64 << 20;
        private static final int SEGMENTS = 1 << 16;
        /** A header of 56 bytes, a block, a checksum, rounded up to 8: SSD segment files, docs/FORMAT.md. */
        private static final int RECORD_BYTES = BLOCK + 64;

        private final MapTable table = new MapTable();
        private final MapEntry entry = new MapEntry();
        private final MapEntry other = new MapEntry();
        private final long capacityBytes;
        private Runnable makeRoom = () -> {};
        private int segment;
        private int offset;
        private long liveBytes;
        private long promotedBytes;

        Copies(long capacityBytes) {
            this.capacityBytes = capacityBytes;
        }

        @Override
        public boolean contains(long chunkId) {
            return table.contains(chunkId);
        }

        @Override
        public OfferAnswer offer(long chunkId, int check, int count, int saving, byte[] data, int from, int length) {
            if (table.contains(chunkId)) {
                return OfferAnswer.PRESENT;
            }
            if (offset + RECORD_BYTES > SEGMENT_BYTES) {
                segment = (segment + 1) % SEGMENTS;
                offset = 0;
            }
            entry.chunkId = chunkId;
            entry.segment = segment;
            entry.offset = offset;
            entry.length = RECORD_BYTES;
            entry.count = count;
            entry.saving = saving;
            entry.heat = 1;
            table.put(entry);
            offset += RECORD_BYTES;
            liveBytes += RECORD_BYTES;
            promotedBytes += RECORD_BYTES;
            if (liveBytes > capacityBytes) {
                makeRoom.run();
            }
            return OfferAnswer.TAKEN;
        }

        boolean follows(long earlier, long later) {
            return table.get(earlier, entry)
                    && table.get(later, other)
                    && entry.segment == other.segment
                    && entry.offset + entry.length == other.offset;
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
            throw new UnsupportedOperationException("the simulator's devices read");
        }

        /** There is nothing that might not answer. */
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
            return capacityBytes;
        }

        @Override
        public long damaged() {
            return 0;
        }
    }
}
