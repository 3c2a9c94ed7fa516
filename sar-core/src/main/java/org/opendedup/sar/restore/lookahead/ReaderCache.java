package org.opendedup.sar.restore.lookahead;

import com.carrotsearch.hppc.LongLongHashMap;
import java.io.IOException;
import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.restore.cache.ChunkHolder;
import org.opendedup.sar.restore.cache.ContainerCache;
import org.opendedup.sar.restore.frame.PinnedChunks;

/**
 * The chunks that stay in memory after the batches of one reader, as its {@link ContainerCache} decides, and the chunks
 * that batches under way bring for it. For one thread at a time.
 */
final class ReaderCache {
    /**
     * Two containers, in bytes. A cache without room for them does not read containers whole: it is given only the
     * chunks that were read.
     */
    private static final int MIN_WHOLE_BYTES = 9 << 20;

    private final PinnedChunks pinned;
    private final StreamBudget.Part budget;
    private final ChunkHolds kept;
    /** Chunks that batches under way bring. */
    private final ChunkHolds promised;

    private final Keeper keeper = new Keeper();
    private ContainerCache cache;
    private long memory;

    ReaderCache(PinnedChunks pinned, StreamBudget.Part budget) {
        this.pinned = pinned;
        this.budget = budget;
        kept = new ChunkHolds(pinned);
        promised = new ChunkHolds(pinned);
        memory = budget.cacheBytes();
        cache = budget.cache(memory, keeper);
    }

    /** Holds the chunks that the cache keeps. */
    private final class Keeper implements ChunkHolder {
        @Override
        public void keep(long chunkId) {
            if (!kept.contains(chunkId)) {
                kept.hold(chunkId, PinnedChunks.heldBytes(Math.max(0, pinned.bytes(chunkId))));
            }
        }

        @Override
        public void drop(long chunkId) {
            if (kept.contains(chunkId)) {
                kept.release(chunkId);
            }
        }
    }

    /** Returns the chunks that batches under way hold for the cache. */
    ChunkHolds promised() {
        return promised;
    }

    /** Bytes charged for chunks that are kept and for chunks that are being fetched. */
    long heldBytes() {
        return kept.bytes() + promised.bytes();
    }

    /** Most bytes that may be charged for kept chunks. */
    long memory() {
        return memory;
    }

    long tableBytes() {
        return cache.tableBytes();
    }

    long windowBytes() {
        return cache.windowBytes();
    }

    boolean readsWhole() {
        return cache.takesWholeContainers() && memory >= MIN_WHOLE_BYTES;
    }

    /**
     * Whether the memory of the cache has to change, because there are more readers than when it was made, or half as
     * many. A reader often begins while that of the file before it ends: it must not keep half of its memory for good.
     */
    boolean isToFollowBudget() {
        long now = budget.cacheBytes();
        return memory > now / 4 * 5 || memory <= now / 2;
    }

    /**
     * Starts an empty cache of the size that the budget now allows, and gives it the references that are not planned
     * yet.
     */
    void followBudget(ReaderWindow window) {
        kept.releaseAll();
        memory = budget.cacheBytes();
        cache = budget.cache(memory, keeper);
        for (int i = window.planned(); i < window.count(); i++) {
            cache.ahead(window.chunkId(i), window.neededBytes(i));
        }
    }

    /** Gives the cache the reader's next reference. */
    void ahead(long chunkId, int neededBytes) {
        cache.ahead(chunkId, neededBytes);
    }

    /**
     * Whether a reference may be the next in a batch for a cache of whole containers. Such a cache decides about each
     * reference by what was used earlier, so a batch is either references that are in the cache, or consecutive
     * references to one container, which is read whole.
     */
    boolean goesOn(PrefetchBatch batch, long chunkId) {
        long container = ChunkId.container(chunkId);
        boolean isCached = cache.contains(chunkId);
        if (!batch.mayGoOnIn(container, isCached)) {
            return false;
        }
        if (!isCached) {
            batch.readWhole(container);
        }
        return true;
    }

    /**
     * Returns chunks of these containers that the window wants and that are not planned, the nearest first and each
     * once, as many as the cache has room for. They are to be brought for the cache, and are held until the batch
     * releases them.
     *
     * @param containers ids, in ascending order
     */
    long[] promise(long[] containers, PrefetchBatch batch, ReaderWindow window, ChunkCharges charges) {
        if (containers.length == 0) {
            return containers;
        }
        long[] chunks = new long[64];
        int count = 0;
        // Chunks that arrive may be worth more than those in the cache: the cache has to choose.
        long most = memory - cache.weightBytes() / 2;
        for (int i = window.planned(); i < window.count() && promised.bytes() < most; i++) {
            long chunkId = window.chunkId(i);
            if (Arrays.binarySearch(containers, ChunkId.container(chunkId)) >= 0
                    && cache.wants(chunkId)
                    && !promised.contains(chunkId)
                    && !pinned.has(chunkId)) {
                batch.promise(chunkId, charges.of(chunkId, window.neededBytes(i)));
                chunks = count == chunks.length ? Arrays.copyOf(chunks, 2 * count) : chunks;
                chunks[count++] = chunkId;
            }
        }
        return Arrays.copyOf(chunks, count);
    }

    /** Returns the bytes that the window wants, beyond its plan, of chunks that are not in memory, by container. */
    LongLongHashMap later(ReaderWindow window) {
        LongLongHashMap bytes = new LongLongHashMap();
        for (int i = window.planned(); i < window.count(); i++) {
            long chunkId = window.chunkId(i);
            if (cache.wants(chunkId) && !promised.contains(chunkId)) {
                bytes.addTo(ChunkId.container(chunkId), window.neededBytes(i));
            }
        }
        return bytes;
    }

    /** Ends a batch: the cache chooses which of its chunks stay. */
    void endBatch(PrefetchBatch batch, BatchRead.Fetched fetched) throws IOException {
        batch.reportTo(cache, fetched.containers());
        for (int i = 0; i < batch.references(); i++) {
            cache.advance();
        }
    }

    /** Releases all chunks. Idempotent. */
    void releaseAll() {
        kept.releaseAll();
        promised.releaseAll();
    }
}
