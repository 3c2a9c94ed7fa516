package org.opendedup.sar.sim.sar;

import java.io.Closeable;
import java.io.IOException;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.hot.copies.CountSource;
import org.opendedup.sar.hot.copies.SsdHealth;
import org.opendedup.sar.hot.demotion.DataDemotion;
import org.opendedup.sar.hot.demotion.LruList;
import org.opendedup.sar.hot.distributor.DataDistributor;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.hot.promotion.SelectivePromotion;
import org.opendedup.sar.sim.block.BlockRequest;
import org.opendedup.sar.ssd.Cause;
import org.opendedup.sar.ssd.ChunkRequest;
import org.opendedup.sar.ssd.MapEntry;
import org.opendedup.sar.ssd.OfferAnswer;
import org.opendedup.sar.ssd.Source;

/**
 * The volume's own promotion, demotion, distribution, LRU list and Map table, on an SSD without time. It is the only
 * class of the simulator that uses them. A chunk's id is its place: 1024 blocks make a container, each block is a
 * separate frame. For one thread.
 */
final class SarTier implements Closeable {
    private static final int SLOT_BITS = 10;
    private static final int BLOCK = BlockRequest.BLOCK_BYTES;
    /** Runs of this length or more stay on the disk, in bytes (SAR paper §3.4). */
    private static final int MAX_RUN_BYTES = 128 << 10;
    /** Entries of the LRU list (SAR paper §4.5.2). */
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
     * The rule for promotion to the SSD.
     *
     * @param byCost true: by disk time saved per byte; false: by count, the paper's rule
     * @param threshold references from which the paper's rule promotes
     */
    record Rule(boolean byCost, int threshold) {}

    /** @param map source of the references of chunks */
    SarTier(long ssdBytes, Rule rule, DedupMap map) {
        HotSettings settings = new HotSettings(
                true,
                ssdBytes,
                rule.threshold(),
                MAX_RUN_BYTES,
                true,
                LRU_ENTRIES,
                rule.byCost() ? HotSettings.Policy.COST : HotSettings.Policy.REFERENCE_COUNT);
        counts = chunkId -> map.referencesAt(place(chunkId));
        copies = new Copies(settings.capacityBytes());
        recentReads = new LruList(settings.lruEntries());
        demotion = new DataDemotion(() -> copies, settings, counts, "simulation");
        promotion = new SelectivePromotion(settings, copies, demotion, recentReads::noteRead, 0);
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

    /** Adds the chunk at a place, with its present references. */
    void add(long place, int references) {
        request.add(chunkId(place), BLOCK, 0, -1);
        request.setReferences(request.count() - 1, references);
    }

    /** Notes that the added chunks were written again. */
    void onChunksWritten() {
        setData();
        promotion.onDuplicatesWritten(0, request);
        awaitDemotion();
    }

    /** Decides the source of each added chunk; {@link #isOnSsd} then returns it. */
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

    /** Returns whether a copy is directly after the copy of the previous chunk on the SSD. */
    boolean followsOnSsd(int i) {
        return copies.follows(request.chunkId(i - 1), request.chunkId(i));
    }

    /** Notes that the added chunks were read from their sources. */
    void onChunksRead() {
        setData();
        promotion.onChunksRead(request, counts);
        awaitDemotion();
    }

    private void setData() {
        for (int i = 0; i < request.count(); i++) {
            request.setData(i, data, 0, BLOCK);
        }
    }

    /** Notes that the chunk at a place was overwritten: its copy is no longer needed. */
    void onChunkOverwritten(long place) {
        copies.demote(chunkId(place));
    }

    /**
     * Has room made, and waits until the background thread has finished, ahead of the next request: so that all runs
     * are identical, it does nothing while a request is promoted.
     */
    private void awaitDemotion() {
        if (copies.liveBytes() > copies.liveLimitBytes()) {
            demotion.makeRoom();
        }
        try {
            demotion.awaitIdle();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while chunks were demoted", e);
        }
    }

    /** Returns the bytes promoted since the last call. */
    long takePromotedBytes() {
        long bytes = copies.promotedBytes;
        copies.promotedBytes = 0;
        return bytes;
    }

    /** Returns the heap bytes of Map table and LRU list. */
    long heapBytes() {
        return copies.heapBytes() + recentReads.heapBytes();
    }

    @Override
    public void close() {
        demotion.close();
        distributor.close();
    }

    /**
     * The SSD as the policies see it: a Map table, and a log of which only the head's place is known. All of its
     * capacity is for records; the volume reserves some for cleaning.
     */
    private static final class Copies extends TableCopies {
        private static final int SEGMENT_BYTES = 64 << 20;
        private static final int SEGMENTS = 1 << 16;
        /**
         * Size of a record: a header of 56 bytes, a block, a checksum, rounded up to 8: SSD segment files,
         * docs/FORMAT.md.
         */
        private static final int RECORD_BYTES = BLOCK + 64;

        private final MapEntry entry = new MapEntry();
        private final MapEntry other = new MapEntry();
        private final long capacityBytes;
        private int segment;
        private int offset;
        private long promotedBytes;

        Copies(long capacityBytes) {
            this.capacityBytes = capacityBytes;
        }

        @Override
        public OfferAnswer offer(
                long chunkId,
                int fingerprintPrefix,
                int count,
                int saving,
                Cause cause,
                byte[] data,
                int from,
                int length) {
            if (contains(chunkId)) {
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
            put(entry);
            offset += RECORD_BYTES;
            promotedBytes += RECORD_BYTES;
            return OfferAnswer.LANDED;
        }

        boolean follows(long earlier, long later) {
            return get(earlier, entry)
                    && get(later, other)
                    && entry.segment == other.segment
                    && entry.offset + entry.length == other.offset;
        }

        @Override
        public long liveLimitBytes() {
            return capacityBytes;
        }
    }
}
