package org.opendedup.sar.restore.lookahead;

import com.carrotsearch.hppc.LongLongHashMap;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the recipe ahead of one position of a reader, and chooses the references of its next batch and what to bring
 * with them. The caller holds the monitor of the cache. The monitor of the window is taken where the window is used.
 */
final class BatchPlanner {
    private static final Logger log = LoggerFactory.getLogger(BatchPlanner.class);

    /**
     * Least mean bytes of a reference in a full batch. With smaller references a batch ends sooner, because each may
     * need a frame of its own.
     */
    private static final int MIN_REFERENCE_BYTES = 4 << 10;
    /**
     * Batches of window that are looked up ahead of each batch: the window is looked up while reading, not all at the
     * start.
     */
    private static final int LOOK_BATCHES = 16;
    /** Most batches that are looked up for one plan: the disk may be waiting for it. */
    private static final int STEP_BATCHES = 4;

    private final Object monitor;
    private final RecipeCursor cursor;
    private final StreamBudget.Part budget;
    private final ReaderCache cache;
    private final ReaderWindow window;
    private final TakenChunks taken;
    private final ChunkCharges charges;

    /**
     * @param monitor guards {@code window} and {@code taken}
     * @param cursor iterates over the file from where the window begins
     */
    BatchPlanner(
            Object monitor,
            RecipeCursor cursor,
            StreamBudget.Part budget,
            ReaderCache cache,
            ReaderWindow window,
            TakenChunks taken,
            ChunkCharges charges) {
        this.monitor = monitor;
        this.cursor = cursor;
        this.budget = budget;
        this.cache = cache;
        this.window = window;
        this.taken = taken;
        this.charges = charges;
    }

    /**
     * Follows the recipe, and adds the next references to a batch, up to byte {@code end} of the file; holds their
     * chunks.
     *
     * @param most most bytes of the batch
     * @param whole whether the cache keeps whole containers, and decides what belongs to a batch
     */
    void plan(PrefetchBatch batch, long most, long end, boolean whole) throws IOException {
        long bytes = Math.min(cache.windowBytes(), LOOK_BATCHES * most);
        look(whole ? Math.max(Lookahead.MIN_AHEAD_BYTES, bytes) : most + bytes, end, most);
        choose(batch, most, end, whole);
    }

    /**
     * Follows the recipe up to byte {@code end} of the file, until {@code bytes} bytes of chunks are known beyond the
     * plan, or the budget has no room for more references.
     *
     * @param batchBytes bytes of the next batch
     */
    private void look(long bytes, long end, long batchBytes) {
        long known;
        int room;
        synchronized (monitor) {
            known = window.lookedAtBytes();
            bytes = Math.min(bytes, known + STEP_BATCHES * batchBytes);
            // The next batch has to be known, whatever else is planned.
            int next = maxReferences(batchBytes) - window.count() + window.planned();
            room = Math.max(budget.references() - window.count(), next);
        }
        while (known < bytes && room-- > 0) {
            if (!next(end)) {
                synchronized (monitor) {
                    window.lookedTo(end);
                }
                return;
            }
            cache.ahead(cursor.chunkId(), cursor.neededBytes());
            known += cursor.neededBytes();
            synchronized (monitor) {
                window.look(cursor);
            }
        }
    }

    /** Most references of one batch. */
    private static int maxReferences(long batchBytes) {
        return (int) Math.max(1, batchBytes / MIN_REFERENCE_BYTES);
    }

    /**
     * Moves to the next reference. The recipe after an unreadable part stays unknown until the reader has reached it.
     */
    private boolean next(long end) {
        try {
            return cursor.next(end);
        } catch (IOException e) {
            log.debug("the recipe can't be followed; the reader gets the error when it reads there", e);
            return false;
        }
    }

    private void choose(PrefetchBatch batch, long most, long end, boolean whole) throws IOException {
        synchronized (monitor) {
            batch.setFirst(window.nextNumber());
            // Where a part of each chunk is wanted, what will arrive is known less well: the batch is shorter.
            long mostUnwanted = most / 2;
            int mostReferences = maxReferences(most);
            long bytes = 0;
            for (int next = window.planned(); next < window.count(); next = window.planned()) {
                boolean isFull = bytes >= most
                        || batch.charged() - bytes >= mostUnwanted
                        || batch.references() >= mostReferences;
                // When the window was looked up, the file was longer, or another position of the reader was not known
                // yet.
                boolean isBehind = window.offset(next) >= end;
                if (isFull || isBehind || whole && !cache.goesOn(batch, window.chunkId(next))) {
                    break;
                }
                long chunkId = window.chunkId(next);
                int needed = window.neededBytes(next);
                int charged = window.plan(charges.of(chunkId, needed));
                batch.add(chunkId, window.fingerprintPrefix(next), needed, charged);
                bytes += needed;
            }
            batch.setPlannedTo(window.endPlan());
            taken.planned(batch.first(), batch.chunks());
        }
    }

    /** See {@link ReaderCache#promise}: chunks to be brought for the cache. */
    long[] promise(long[] containers, PrefetchBatch batch) {
        synchronized (monitor) {
            return cache.promise(containers, batch, window, charges);
        }
    }

    /** Returns the bytes that references beyond the plan want of chunks that are not in memory, by container. */
    LongLongHashMap later() {
        synchronized (monitor) {
            return cache.later(window);
        }
    }

    /** Charges what a batch has brought, and learns from it what to charge the next one. */
    void learn(PrefetchBatch batch) {
        synchronized (monitor) {
            long taken = batch.taken(window);
            if (!batch.isWhole()) {
                charges.learn(batch.charged(), taken);
            }
        }
    }
}
