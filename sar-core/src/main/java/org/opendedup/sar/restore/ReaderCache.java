package org.opendedup.sar.restore;

import java.io.IOException;
import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.restore.cache.ChunkHolder;
import org.opendedup.sar.restore.cache.ContainerCache;

/**
 * What stays in memory behind the steps of one reader, as its {@link ContainerCache} decides, and what steps under way bring for it.
 * For one thread at a time.
 */
final class ReaderCache {
    /** Two containers. A cache that has no room for them is told what was read of each, and only that is read. */
    private static final int MIN_WHOLE_BYTES = 9 << 20;

    private final HeldChunks held;
    private final StreamBudget.Share budget;
    private final ChunkHolds kept;
    /** Chunks that steps under way bring. */
    private final ChunkHolds promised;

    private final Keeper keeper = new Keeper();
    private ContainerCache cache;
    private long memory;

    ReaderCache(HeldChunks held, StreamBudget.Share budget) {
        this.held = held;
        this.budget = budget;
        kept = new ChunkHolds(held);
        promised = new ChunkHolds(held);
        memory = budget.cacheBytes();
        cache = budget.cache(memory, keeper);
    }

    /** Holds what the cache wants to stay. */
    private final class Keeper implements ChunkHolder {
        @Override
        public void keep(long chunkId) {
            if (!kept.contains(chunkId)) {
                kept.hold(chunkId, HeldChunks.heldBytes(Math.max(0, held.bytes(chunkId))));
            }
        }

        @Override
        public void drop(long chunkId) {
            if (kept.contains(chunkId)) {
                kept.release(chunkId);
            }
        }
    }

    /** What steps under way hold for the cache. */
    ChunkHolds promised() {
        return promised;
    }

    /** What is charged for the chunks that are kept, and for those on their way. */
    long heldBytes() {
        return kept.bytes() + promised.bytes();
    }

    /** What may be charged for the chunks that are kept. */
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

    /** Whether there are far more readers than before, or fewer. */
    boolean isToFollowBudget() {
        long now = budget.cacheBytes();
        return memory > now / 4 * 5 || memory < now / 3;
    }

    /** Begins with an empty cache, as large as it may be now, and tells it of the references that are not planned. */
    void followBudget(ReaderWindow window) {
        kept.releaseAll();
        memory = budget.cacheBytes();
        cache = budget.cache(memory, keeper);
        for (int i = window.planned(); i < window.count(); i++) {
            cache.ahead(window.chunkId(i), window.neededBytes(i));
        }
    }

    /** The reader's next reference is known. */
    void ahead(long chunkId, int neededBytes) {
        cache.ahead(chunkId, neededBytes);
    }

    /**
     * Whether a reference may be the next in a step for a cache of whole containers, which decides about each by what was used before.
     * So such a step is what is in the cache, or the references that follow each other in one container, which is read.
     */
    boolean goesOn(Step step, long chunkId) {
        long container = ChunkId.container(chunkId);
        boolean isCached = cache.contains(chunkId);
        if (!step.mayGoOnIn(container, isCached)) {
            return false;
        }
        if (!isCached) {
            step.readWhole(container);
        }
        return true;
    }

    /** See {@link Step.Window}: chunks that are not planned, to be brought for the cache. They are held until the step releases them. */
    long[] promise(long[] containers, Step step, ReaderWindow window, ChunkCharges charges) {
        if (containers.length == 0) {
            return containers;
        }
        long[] chunks = new long[64];
        int count = 0;
        // What comes may be worth more than what is there: the cache is to choose.
        long most = memory - cache.weightBytes() / 2;
        for (int i = window.planned(); i < window.count() && promised.bytes() < most; i++) {
            long chunkId = window.chunkId(i);
            if (Arrays.binarySearch(containers, ChunkId.container(chunkId)) >= 0
                    && cache.wants(chunkId)
                    && !promised.contains(chunkId)
                    && !held.has(chunkId)) {
                step.promise(chunkId, charges.of(chunkId, window.neededBytes(i)));
                chunks = count == chunks.length ? Arrays.copyOf(chunks, 2 * count) : chunks;
                chunks[count++] = chunkId;
            }
        }
        return Arrays.copyOf(chunks, count);
    }

    /** A step has ended: the cache chooses what of it stays. */
    void tell(Step step, StepReads.Fetched fetched) throws IOException {
        step.tell(fetched.containers(), cache);
        for (int i = 0; i < step.references(); i++) {
            cache.advance();
        }
    }

    /** Lets go of all. Idempotent. */
    void releaseAll() {
        kept.releaseAll();
        promised.releaseAll();
    }
}
