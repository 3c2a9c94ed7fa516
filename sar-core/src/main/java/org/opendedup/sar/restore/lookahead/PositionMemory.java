package org.opendedup.sar.restore.lookahead;

import java.util.function.LongSupplier;
import org.opendedup.sar.common.ByteGauge;

/**
 * The memory of one position of a reader: how long its batches are, whether there is room for the next one, the bytes
 * that the window keeps before the reader's offset, and what all of it is charged. Guarded by the monitor that guards
 * the window.
 */
final class PositionMemory {
    /**
     * Bytes of the first batch; the next ones are twice as long. Each may seek to every pack that the file has chunks
     * in, so short ones cost a disk most of its time.
     */
    private static final int FIRST_BATCH_BYTES = 8 << 20;
    /** Least bytes of a batch, however little memory there is. */
    private static final int MIN_BATCH_BYTES = 256 << 10;
    /** Most bytes of a batch: reading them keeps others waiting for the disk for 200 ms. */
    static final int MAX_BATCH_BYTES = 32 << 20;
    /**
     * Requests of one reader arrive side by side and out of order: chunks up to this many bytes back from the furthest
     * request are kept.
     */
    private static final int SLACK_BYTES = 12 << 20;

    private final StreamBudget.Part budget;
    private final ReaderWindow window;
    private final ReaderCache cache;
    private final LongSupplier recipeTables;
    private final ByteGauge gauge;
    private long batchBytes = FIRST_BATCH_BYTES;
    /** Size of the tables when last measured, in bytes. */
    private long tableBytes;

    /**
     * @param budget what the position may use; {@link #release} gives it back
     * @param recipeTables returns the heap bytes that are held for following the recipe
     * @param gauge counts the bytes of the tables
     */
    PositionMemory(
            StreamBudget.Part budget,
            ReaderWindow window,
            ReaderCache cache,
            LongSupplier recipeTables,
            ByteGauge gauge) {
        this.budget = budget;
        this.window = window;
        this.cache = cache;
        this.recipeTables = recipeTables;
        this.gauge = gauge;
    }

    /**
     * Returns how far apart requests of one reader may be, in bytes: chunks this far back from the furthest request are
     * kept for the others. Needs no monitor.
     */
    long slackBytes() {
        return Math.min(SLACK_BYTES, budget.aheadBytes() / 4);
    }

    /** Returns the bytes of the next batch of a position that is read ahead by {@code mostAhead} bytes at most. */
    long batchBytes(long mostAhead) {
        return Math.min(batchBytes, Math.max(MIN_BATCH_BYTES, Math.min(budget.batchBytes(), mostAhead)));
    }

    /** Doubles the bytes of the next batch. */
    void lengthenBatches() {
        batchBytes = Math.min(MAX_BATCH_BYTES, 2 * batchBytes);
    }

    /** Releases what a reader at byte {@code readerAt} of the file has passed, and what exceeds its share. */
    void pass(long readerAt) {
        long ahead = budget.aheadBytes();
        window.pass(readerAt - slackBytes());
        // More arrived than was charged, or other readers have joined.
        window.passDownTo(ahead + ahead / 8, readerAt);
        noteUse();
    }

    /** Reports to the budget what is used now. */
    void noteUse() {
        budget.use(window.heldBytes() + Math.max(cache.memory(), cache.heldBytes()) + tableBytes);
    }

    /** Measures the tables. Called with the cache's monitor held, too. */
    void noteTables() {
        long bytes = cache.tableBytes() + window.tableBytes() + recipeTables.getAsLong();
        gauge.add(bytes - tableBytes);
        tableBytes = bytes;
    }

    boolean isRoomFor(long batch) {
        return window.heldBytes() + withSlots(batch) <= budget.aheadBytes();
    }

    /**
     * Releases chunks that a reader at byte {@code readerAt} has passed, as a batch of {@code batch} bytes needs.
     * Returns whether there is room for it.
     */
    boolean makeRoomFor(long batch, long readerAt) {
        window.passDownTo(Math.max(0, budget.aheadBytes() - withSlots(batch)), readerAt);
        return isRoomFor(batch);
    }

    /** Bytes of memory for {@code chunkBytes} bytes of chunks of usual sizes. */
    private static long withSlots(long chunkBytes) {
        return chunkBytes + chunkBytes / 8;
    }

    /** Bytes that the position uses now, approximately. */
    long heldBytes() {
        return window.heldBytes() + cache.heldBytes() + tableBytes;
    }

    /**
     * Releases everything.
     *
     * @param parks whether chunks that the reader has not taken are parked
     */
    void release(boolean parks) {
        window.releaseAll(parks);
        cache.releaseAll();
        gauge.add(-tableBytes);
        tableBytes = 0;
        budget.leave();
    }
}
