package org.opendedup.sar.restore.lookahead;

import com.carrotsearch.hppc.LongLongHashMap;
import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.restore.cache.ContainerCache;
import org.opendedup.sar.restore.frame.LongVisits;
import org.opendedup.sar.restore.frame.PinnedChunks;
import org.opendedup.sar.restore.frame.PinnedChunks.Pinned;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads ahead of one position of a sequential reader, in batches. A batch brings the chunks of the next few MiB of the
 * file into memory, in disk order. With them it brings, from the same containers, chunks that the recipe wants later
 * (lookahead paper §3.3). A {@link ContainerCache} decides which chunks stay in memory after a batch.
 *
 * <pre>
 *   passed | fetched, for the reader | being fetched | window: known
 *          ^ reference 0             ^ fetched       ^ planned         ^ count
 * </pre>
 *
 * While the frames of one batch are decoded, the disk reads for the next batch, and the batch after that is planned.
 * Batches end in their order. Separate from {@link PrefetchBatch}, because it exists as long as the position does. The
 * reader and the threads that run batches share it. Safe for use by many threads.
 */
final class Lookahead implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(Lookahead.class);

    /** Least bytes to read ahead of a reader: a position that may be read ahead by less is not read ahead at all. */
    static final int MIN_AHEAD_BYTES = 1 << 20;

    /** Replaces the size of a file for what is looked up only when it is near: the log of a stream, or a tree. */
    static final long UNBOUNDED = 1L << 60;

    /**
     * Misses after which a stale plan is dropped. A miss is a request for a chunk that the recipe did not have when the
     * plan was made.
     */
    private static final int MAX_MISSES = 8;

    /** Number of the first batch whose visits to the disk are longer: a reader of some MiB has left by then. */
    private static final int FIRST_LONG_BATCH = 1;

    private final BatchSources sources;
    private final PinnedChunks pinned;
    private final long inode;
    private final BatchRunner runner;
    private final Consumer<Lookahead> onClosed;

    private final LongVisits visits;

    /** Guarded by itself, as is {@link #planner}. Lock order: its monitor is taken first, then that of this. */
    private final ReaderCache cache;

    private final BatchPlanner planner;

    /** Guarded by this, as are all fields below. */
    private final ReaderWindow window;

    private final TakenChunks taken;

    private final PositionMemory memory;
    private final PositionCounters counters;
    private long readerAt;
    private long size;
    /**
     * Most bytes to read ahead of the reader; {@link Long#MAX_VALUE}: limited only by what the reader has read so far.
     */
    private long mostAhead = Long.MAX_VALUE;

    private final long start;
    /** Requests of the reader that are under way. */
    private int requests;
    /** When the last request began or ended, in nanoseconds. */
    private long usedNanos = System.nanoTime();

    private int misses;

    private final BatchesUnderWay underWay = new BatchesUnderWay(this);
    private boolean closed;
    private boolean failed;
    /** Whether chunks that the reader has not taken are parked on close. */
    private boolean parks;
    /** Whether all memory was released. */
    private boolean released;

    /** Runs batches. */
    @FunctionalInterface
    interface BatchRunner {
        /**
         * Requests a call of {@link #runBatch} by another thread, soon. Returns false if it will not be called, because
         * everything is being closed.
         */
        boolean request(Lookahead lookahead);
    }

    /**
     * @param parked chunks not taken at positions that the reader left
     * @param cursor iterates over the file from byte {@code from} on
     * @param size size of the file, or where another position of the reader began, in bytes
     * @param budget memory of this position, which this releases
     * @param onClosed called once, when this has released its memory
     */
    Lookahead(
            BatchSources sources,
            StreamBudget.Part budget,
            ParkedChunks parked,
            long inode,
            RecipeCursor cursor,
            long from,
            long size,
            BatchRunner runner,
            Consumer<Lookahead> onClosed) {
        this.sources = sources;
        this.pinned = sources.pinned();
        visits = sources.visits();
        this.inode = inode;
        this.runner = runner;
        this.onClosed = onClosed;
        this.size = size;
        start = from;
        readerAt = from;
        taken = new TakenChunks(pinned, parked, sources.reportsTaken());
        window = new ReaderWindow(pinned, taken, from);
        cache = new ReaderCache(pinned, budget);
        memory = new PositionMemory(budget, window, cache, cursor::tableBytes, pinned.memory());
        counters = new PositionCounters(inode, from);
        planner = new BatchPlanner(this, cursor, budget, cache, window, taken, new ChunkCharges(pinned));
    }

    /**
     * Notes that the reader has asked for bytes up to {@code readerAt} of its file. Does nothing if this is closed,
     * which may happen at any moment.
     *
     * @param size current size of the file, or where another position of the reader began, in bytes
     * @param mostAhead most bytes to read ahead of the reader; {@link Long#MAX_VALUE}: limited only by what the reader
     *     has read so far
     */
    void note(long readerAt, long size, long mostAhead) {
        synchronized (this) {
            usedNanos = System.nanoTime();
            if (closed) {
                return;
            }
            this.readerAt = Math.max(this.readerAt, readerAt);
            this.size = size;
            this.mostAhead = mostAhead;
            memory.pass(this.readerAt);
            requestBatchIfDue();
        }
        deliverReports();
    }

    /** Notes that the reader received {@code length} bytes of its file, from {@code offset} on, from held chunks. */
    void took(long offset, int length) {
        synchronized (this) {
            window.took(offset, length);
        }
        deliverReports();
    }

    /**
     * Returns how far apart requests of one reader may be, in bytes: chunks this far back from the furthest request are
     * kept for the others.
     */
    long slackBytes() {
        return memory.slackBytes();
    }

    /** Whether a batch has what is wanted at an offset, or an earlier one had it. */
    synchronized boolean isPlanned(long offset) {
        return offset < window.plannedTo();
    }

    /** Bytes fetched that the reader has not taken. */
    synchronized long untakenBytes() {
        return taken.untakenBytes();
    }

    /**
     * Notes that a request of the reader begins. Until {@link #leave}, the reader is not idle, however long it waits
     * for the disk.
     */
    synchronized void enter() {
        requests++;
    }

    synchronized void leave() {
        requests--;
        usedNanos = System.nanoTime();
    }

    private void requestBatchIfDue() {
        if (closed || !underWay.mayRequest() || window.plannedTo() >= size) {
            return;
        }
        long ahead = window.plannedTo() - readerAt;
        if (ahead > mostAhead - MIN_AHEAD_BYTES) {
            if (ahead < 0 && underWay.count() == 0) {
                // Reading ahead would start at bytes that the reader has already passed.
                end();
            }
            return;
        }
        // For a reader that stops early, little has been read ahead.
        boolean isEarned = ahead <= Math.max(2L * MIN_AHEAD_BYTES, 2 * (readerAt - start));
        long next = memory.batchBytes(mostAhead);
        boolean isRoom = isEarned && memory.isRoomFor(next);
        if (isRoom || window.fetchedTo() <= readerAt && makeRoomFor(next)) {
            boolean isRequested = runner.request(this);
            underWay.setPlanning(isRequested);
            if (!isRequested) {
                end();
            }
        }
    }

    /** The reader has reached the end of what is fetched: if nothing is under way, one batch is fetched in any case. */
    private boolean makeRoomFor(long batch) {
        return memory.makeRoomFor(batch, readerAt) || underWay.count() == 0;
    }

    /**
     * Returns the bytes of a chunk that the reader wants at an offset of its file; to be closed. Waits while they are
     * being fetched, or are about to be.
     *
     * @return null if they have not been fetched: the caller has to fetch them
     */
    @Nullable
    Pinned chunk(long chunkId, long offset) throws IOException {
        Pinned there = pinned.use(chunkId);
        if (there != null) {
            return there;
        }
        sources.noteWait();
        try {
            awaitPlan(offset);
            Pinned arrived = pinned.await(chunkId);
            if (arrived == null) {
                noteMiss(chunkId, offset);
                deliverReports();
            }
            return arrived;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for what is read ahead");
        }
    }

    private synchronized void awaitPlan(long offset) throws InterruptedException {
        while (!closed && offset >= window.plannedTo() && underWay.areAny()) {
            wait();
        }
    }

    /**
     * Counts a miss. The plan may be stale, because the file was written to in the meantime. If it is dropped, a new
     * one starts from the reader's position.
     */
    private synchronized void noteMiss(long chunkId, long offset) {
        if (window.isMissed(chunkId, offset) && ++misses > MAX_MISSES) {
            taken.outdated();
            end();
        }
    }

    /** Makes the batch that was requested. */
    void runBatch() {
        PrefetchBatch batch = null;
        try {
            batch = begin();
            fetch(batch);
        } catch (IOException e) {
            log.debug("reading ahead of inode {} failed; the reader gets the error when it reads there", inode, e);
            fail();
        } catch (RuntimeException | Error e) {
            // The executor that runs batches ignores how they end.
            log.error("reading ahead of inode {} failed", inode, e);
            close();
            throw e;
        } finally {
            end(batch);
        }
    }

    private synchronized PrefetchBatch begin() {
        PrefetchBatch batch = new PrefetchBatch(sources, cache.promised(), inode, underWay.begun(), size);
        underWay.begin();
        return batch;
    }

    private void fetch(PrefetchBatch batch) throws IOException {
        try (batch) {
            if (isClosed()) {
                return;
            }
            plan(batch);
            BatchRead.Fetched fetched = read(batch);
            underWay.awaitTurn(batch.number());
            synchronized (cache) {
                planner.learn(batch);
                cache.endBatch(batch, fetched);
                count(fetched);
            }
        }
    }

    private void plan(PrefetchBatch batch) throws IOException {
        boolean isWhole;
        boolean isToFollowBudget;
        synchronized (cache) {
            isWhole = cache.readsWhole();
            isToFollowBudget = cache.isToFollowBudget();
        }
        if (isWhole || isToFollowBudget) {
            underWay.awaitTurn(batch.number());
        }
        synchronized (cache) {
            long most;
            long end;
            synchronized (this) {
                followBudget();
                most = memory.batchBytes(mostAhead);
                end = size;
            }
            planner.plan(batch, most, end, isWhole);
            notePlan();
        }
    }

    private void followBudget() {
        // An earlier batch would end in a cache that never received its references.
        if (cache.isToFollowBudget() && underWay.count() <= 1) {
            cache.followBudget(window);
        }
    }

    private synchronized void notePlan() {
        memory.noteTables();
        memory.noteUse();
        notifyAll();
    }

    private synchronized void count(BatchRead.Fetched fetched) {
        counters.add(fetched);
        memory.noteTables();
    }

    /** Reads a batch. What it reads from the disk is chosen while it is next there. */
    private BatchRead.Fetched read(PrefetchBatch batch) throws IOException {
        try (BatchRead read = batch.read()) {
            read.start();
            try (BatchRead.Turn turn = read.next()) {
                long[] containers = turn.chooseMissing();
                if (batch.isWhole()) {
                    batch.addWholeContainer(turn);
                    turn.claim();
                    turn.begin();
                } else {
                    batch.addPromised(promise(containers, batch), turn);
                    turn.claim();
                    if (batch.number() >= FIRST_LONG_BATCH) {
                        turn.lengthen(visits, this::later);
                    }
                    turn.begin();
                    throwIfClosed();
                    // The next batch may be planned.
                    notePlanned(batch);
                }
                turn.read();
            }
            return read.finish();
        }
    }

    /** Returns the bytes of chunks that later batches are going to want from the disk, by container. */
    private LongLongHashMap later() {
        synchronized (cache) {
            return planner.later();
        }
    }

    private void throwIfClosed() throws InterruptedIOException {
        if (isClosed()) {
            throw new InterruptedIOException("the reader has left this position");
        }
    }

    private long[] promise(long[] containers, PrefetchBatch batch) throws InterruptedIOException {
        throwIfClosed();
        synchronized (cache) {
            return planner.promise(containers, batch);
        }
    }

    private synchronized void notePlanned(PrefetchBatch batch) {
        if (!batch.isPlanned()) {
            batch.setPlanned();
            underWay.setPlanning(false);
            requestBatchIfDue();
        }
    }

    /** Returns the current status of this reader. */
    synchronized StreamStatus status() {
        return counters.status(readerAt, size == UNBOUNDED ? readerAt : size, memory.heldBytes());
    }

    /** @param batch the batch that ends; null if it could not begin */
    private void end(@Nullable PrefetchBatch batch) {
        if (batch == null) {
            endPlanning();
            deliverReports();
            return;
        }
        try {
            notePlanned(batch);
        } finally {
            underWay.awaitTurn(batch.number());
            endInTurn(batch);
            deliverReports();
        }
    }

    private void deliverReports() {
        List<TakenChunks.Report> pending;
        synchronized (this) {
            pending = taken.takePending();
        }
        pending.forEach(report -> report.deliver(sources));
    }

    private synchronized void endPlanning() {
        underWay.setPlanning(false);
        releaseIfDone();
    }

    private synchronized void endInTurn(PrefetchBatch batch) {
        window.fetched(batch.references(), batch.plannedTo());
        taken.ended(batch.first());
        memory.lengthenBatches();
        // Some misses are requests that arrive too late. A file that is being written has many misses in each batch.
        misses /= 2;
        underWay.end();
        if (closed) {
            releaseIfDone();
        } else {
            memory.pass(readerAt);
            requestBatchIfDue();
        }
    }

    private synchronized void fail() {
        if (!closed) {
            failed = true;
            end();
        }
    }

    /** Whether this was closed because something could not be read. */
    synchronized boolean hasFailed() {
        return failed;
    }

    /** Closes this if no request is under way and the last one ended more than {@code nanos} nanoseconds ago. */
    void closeIfIdle(long nanos) {
        synchronized (this) {
            if (requests == 0 && System.nanoTime() - usedNanos > nanos) {
                end();
            }
        }
        deliverReports();
    }

    synchronized boolean isClosed() {
        return closed;
    }

    /** As {@link #close}, but parks chunks that the reader has not taken: another position replaces this one. */
    void park() {
        synchronized (this) {
            if (!closed) {
                parks = true;
                end();
            }
        }
        deliverReports();
    }

    /** Releases all memory, when the batches under way have ended. Idempotent. */
    @Override
    public void close() {
        end();
        deliverReports();
    }

    /** As {@link #close}; the caller has to call {@link #deliverReports}. */
    private synchronized void end() {
        if (!closed) {
            closed = true;
            notifyAll();
            releaseIfDone();
        }
    }

    /**
     * Releases what is held, if this is closed and no batch is under way: batches under way need it, so the last one of
     * them releases it.
     */
    private void releaseIfDone() {
        if (!closed || underWay.areAny() || released) {
            return;
        }
        released = true;
        memory.release(parks);
        onClosed.accept(this);
    }
}
