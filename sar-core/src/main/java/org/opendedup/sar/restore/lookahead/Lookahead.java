package org.opendedup.sar.restore.lookahead;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.restore.cache.ContainerCache;
import org.opendedup.sar.restore.frame.PinnedChunks;
import org.opendedup.sar.restore.frame.PinnedChunks.Pinned;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads ahead of one position of a sequential reader, in steps. A step brings the chunks of the next few MiB of the
 * file into memory, in disk order. With them it brings, from the same containers, chunks that the recipe wants later
 * (lookahead paper §3.3). A {@link ContainerCache} decides which chunks stay in memory after a step.
 *
 * <pre>
 *   passed | fetched, for the reader | being fetched | window: looked at
 *          ^ reference 0             ^ fetched       ^ planned         ^ count
 * </pre>
 *
 * While the frames of one step are decoded, the disk reads for the next step, and the step after that is planned. Steps
 * end in their order. Safe for use by many threads.
 */
public final class Lookahead implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(Lookahead.class);

    /**
     * Requests of one reader arrive side by side and out of order: chunks up to this many bytes back from the furthest
     * request are kept.
     */
    private static final int SLACK_BYTES = 12 << 20;
    /** Bytes of the first step. It is short, so that its bytes arrive early; each next step is twice as long. */
    public static final int FIRST_STEP_BYTES = 1 << 20;
    /**
     * Most steps under way: one is being decoded, one is read from the disk, and one is planned and waits for the disk.
     */
    private static final int STEPS_UNDER_WAY = 3;

    /** Most bytes of a step: reading them keeps others waiting for the disk for 200 ms. */
    private static final int MAX_STEP_BYTES = 32 << 20;
    /**
     * Misses after which a stale plan is dropped. A miss is a request for a chunk that the recipe did not have when the
     * plan was made.
     */
    private static final int MAX_MISSES = 8;
    /**
     * Steps of window that are looked up ahead of each step: the window is looked up while reading, not all at the
     * start.
     */
    private static final int LOOK_STEPS = 16;

    private final StepReads reads;
    private final PinnedChunks pinned;
    private final StreamBudget.Part budget;
    private final long inode;
    private final Steps steps;
    private final Consumer<Lookahead> onClosed;
    private final ChunkCharges charges;

    /** Guarded by itself, as is {@link #planner}. Lock order: its monitor is taken first, then that of this. */
    private final ReaderCache cache;

    private final StepPlanner planner;

    /** Guarded by this, as are all fields below. */
    private final ReaderWindow window;

    private final TakenChunks taken;

    private long stepBytes = FIRST_STEP_BYTES;
    private long readerAt;
    private long size;
    /**
     * Most bytes to read ahead of the reader; {@link Long#MAX_VALUE}: limited only by what the reader has read so far.
     */
    private long mostAhead = Long.MAX_VALUE;

    private final long start;
    private final long startNanos = System.nanoTime();
    /** Requests of the reader that are under way. */
    private int requests;
    /** When the last request began or ended, in nanoseconds. */
    private long usedNanos = startNanos;

    private long containerReads;
    private long diskBytes;
    private long ssdBytes;
    private long memoryBytes;
    /** Size of the tables when last measured, in bytes. */
    private long tableBytes;

    private int misses;

    /** Whether a step is requested, planned or waits for the disk: one at a time. */
    private boolean planning;
    /**
     * Number of steps that have begun, and number of those that have ended: at most {@link #STEPS_UNDER_WAY} more have
     * begun.
     */
    private long begun;

    private long ended;
    private boolean closed;
    private boolean failed;
    /** Whether chunks that the reader has not taken are parked on close. */
    private boolean parks;
    /** Whether all memory was released. */
    private boolean released;

    /** Runs steps. */
    @FunctionalInterface
    interface Steps {
        /**
         * Requests a call of {@link #step} by another thread, soon. Returns false if it will not be called, because
         * everything is being closed.
         */
        boolean request(Lookahead lookahead);
    }

    /**
     * What a reader shares among all its positions.
     *
     * @param parked chunks not taken at positions that the reader left
     * @param credit measures whether reading ahead was of use
     */
    public record Reader(ParkedChunks parked, ReadCredit credit) {}

    /**
     * @param reader whose position this is
     * @param cursor iterates over the file from byte {@code from} on
     * @param size size of the file, or where another position of the reader began, in bytes
     * @param budget memory of this position, which this releases
     * @param onClosed called once, when this has released its memory
     */
    Lookahead(
            StepReads reads,
            StreamBudget.Part budget,
            Reader reader,
            long inode,
            RecipeCursor cursor,
            long from,
            long size,
            Steps steps,
            Consumer<Lookahead> onClosed) {
        this.reads = reads;
        this.pinned = reads.pinned();
        this.budget = budget;
        this.inode = inode;
        this.steps = steps;
        this.onClosed = onClosed;
        this.size = size;
        start = from;
        readerAt = from;
        charges = new ChunkCharges(pinned);
        taken = new TakenChunks(pinned, reader.parked(), reader.credit(), reads.tells());
        window = new ReaderWindow(pinned, taken, from);
        cache = new ReaderCache(pinned, budget);
        planner = new StepPlanner(this, cursor, budget, cache, window, taken, charges);
    }

    /**
     * Notes that the reader has asked for bytes up to {@code readerAt} of its file. Does nothing if this is closed,
     * which may happen at any moment.
     *
     * @param size current size of the file, or where another position of the reader began, in bytes
     * @param mostAhead most bytes to read ahead of the reader; {@link Long#MAX_VALUE}: limited only by what the reader
     *     has read so far
     */
    public void note(long readerAt, long size, long mostAhead) {
        synchronized (this) {
            usedNanos = System.nanoTime();
            if (closed) {
                return;
            }
            this.readerAt = Math.max(this.readerAt, readerAt);
            this.size = size;
            this.mostAhead = mostAhead;
            pass();
            requestStepIfDue();
        }
        tell();
    }

    /** Notes that the reader received {@code length} bytes of its file, from {@code offset} on, from held chunks. */
    public void took(long offset, int length) {
        synchronized (this) {
            window.took(offset, length);
        }
        tell();
    }

    /**
     * Returns how far apart requests of one reader may be, in bytes: chunks this far back from the furthest request are
     * kept for the others.
     */
    long slackBytes() {
        return Math.min(SLACK_BYTES, budget.aheadBytes() / 4);
    }

    /** Bytes fetched that the reader has not taken. */
    synchronized long untakenBytes() {
        return taken.untakenBytes();
    }

    /**
     * Notes that a request of the reader begins. Until {@link #leave}, the reader is not idle, however long it waits
     * for the disk.
     */
    public synchronized void enter() {
        requests++;
    }

    public synchronized void leave() {
        requests--;
        usedNanos = System.nanoTime();
    }

    private void pass() {
        long ahead = budget.aheadBytes();
        window.pass(readerAt - slackBytes());
        // More arrived than was charged, or other readers have joined.
        window.passDownTo(ahead + ahead / 8, readerAt);
        noteUse();
    }

    private void noteUse() {
        budget.use(window.heldBytes() + Math.max(cache.memory(), cache.heldBytes()) + tableBytes);
    }

    private void requestStepIfDue() {
        if (closed || planning || begun - ended >= STEPS_UNDER_WAY || window.plannedTo() >= size) {
            return;
        }
        long ahead = window.plannedTo() - readerAt;
        if (ahead > mostAhead - FIRST_STEP_BYTES) {
            if (ahead < 0 && begun == ended) {
                // Reading ahead would start at bytes that the reader has already passed.
                end();
            }
            return;
        }
        // For a reader that stops early, little has been read ahead.
        boolean isEarned = ahead <= Math.max(2L * FIRST_STEP_BYTES, 2 * (readerAt - start));
        if (isEarned && isRoom() || window.fetchedTo() <= readerAt && makeRoom()) {
            planning = steps.request(this);
            if (!planning) {
                end();
            }
        }
    }

    private boolean isRoom() {
        return window.heldBytes() + withRooms(stepBytes()) <= budget.aheadBytes();
    }

    /** Bytes of memory for {@code chunkBytes} bytes of chunks of usual sizes. */
    private static long withRooms(long chunkBytes) {
        return chunkBytes + chunkBytes / 8;
    }

    /**
     * The reader has reached the end of what is fetched: releases chunks that it has passed. Returns whether there is
     * room for a step.
     */
    private boolean makeRoom() {
        window.passDownTo(Math.max(0, budget.aheadBytes() - withRooms(stepBytes())), readerAt);
        return isRoom() || begun == ended;
    }

    /**
     * Returns the bytes of a chunk that the reader wants at an offset of its file; to be closed. Waits while they are
     * being fetched, or are about to be.
     *
     * @return null if they have not been fetched: the caller has to fetch them
     */
    @Nullable
    public Pinned chunk(long chunkId, long offset) throws IOException {
        Pinned there = pinned.use(chunkId);
        if (there != null) {
            return there;
        }
        try {
            awaitPlan(offset);
            Pinned come = pinned.await(chunkId);
            if (come == null) {
                noteMiss(chunkId, offset);
                tell();
            }
            return come;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for what is read ahead");
        }
    }

    private synchronized void awaitPlan(long offset) throws InterruptedException {
        while (!closed && offset >= window.plannedTo() && isStepping()) {
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

    private boolean isStepping() {
        return planning || begun > ended;
    }

    /** Makes the step that was requested. */
    void step() {
        Step step = null;
        try {
            step = begin();
            fetch(step);
        } catch (IOException e) {
            log.debug("reading ahead of inode {} failed; the reader will see why", inode, e);
            fail();
        } catch (RuntimeException | Error e) {
            // The executor that runs steps ignores how they end.
            log.error("reading ahead of inode {} failed", inode, e);
            close();
            throw e;
        } finally {
            end(step);
        }
    }

    private synchronized Step begin() {
        Step step = new Step(reads, cache.promised(), inode, begun, size);
        begun++;
        return step;
    }

    private void fetch(Step step) throws IOException {
        try (step) {
            if (isClosed()) {
                return;
            }
            plan(step);
            StepReads.Fetched fetched = step.fetch(new WindowOf(step));
            awaitTurn(step);
            synchronized (cache) {
                learn(step);
                cache.tell(step, fetched);
                count(fetched);
            }
        }
    }

    private void plan(Step step) throws IOException {
        boolean whole = readsWhole();
        if (whole || isToFollowBudget()) {
            awaitTurn(step);
        }
        synchronized (cache) {
            followBudget();
            long most = stepBytes();
            long end = size();
            long bytes = Math.min(cache.windowBytes(), LOOK_STEPS * most);
            planner.look(whole ? Math.max(FIRST_STEP_BYTES, bytes) : most + bytes, end, most);
            planner.plan(step, most, end, whole);
            notePlan();
        }
    }

    private synchronized void notePlan() {
        noteTables();
        noteUse();
        notifyAll();
    }

    private synchronized long size() {
        return size;
    }

    private synchronized void learn(Step step) {
        long taken = step.taken(window);
        if (!step.isWhole()) {
            charges.learn(step.charged(), taken);
        }
    }

    private synchronized void count(StepReads.Fetched fetched) {
        containerReads += fetched.containers().size();
        diskBytes += fetched.diskBytes();
        ssdBytes += fetched.ssdBytes();
        memoryBytes += fetched.memoryBytes();
        noteTables();
    }

    private void noteTables() {
        long bytes = cache.tableBytes() + window.tableBytes();
        pinned.memory().add(bytes - tableBytes);
        tableBytes = bytes;
    }

    /**
     * What a step asks for when it is next at the disk. When its turn at the disk begins, the next step may be planned.
     */
    private final class WindowOf implements Step.Window {
        private final Step step;

        WindowOf(Step step) {
            this.step = step;
        }

        @Override
        public long[] chunks(long[] containers) throws IOException {
            throwIfClosed();
            synchronized (cache) {
                return promise(containers, step);
            }
        }

        @Override
        public void begins() throws IOException {
            throwIfClosed();
            notePlanned(step);
        }

        private void throwIfClosed() throws InterruptedIOException {
            if (isClosed()) {
                throw new InterruptedIOException("the reader went elsewhere");
            }
        }
    }

    private synchronized void notePlanned(Step step) {
        if (!step.isPlanned()) {
            step.setPlanned();
            planning = false;
            requestStepIfDue();
        }
    }

    /**
     * Waits until the earlier steps have ended: the policies decide by the order of the references. Policies that keep
     * whole containers need that order even to decide what a step contains.
     */
    private synchronized void awaitTurn(Step step) {
        boolean interrupted = false;
        while (ended < step.number()) {
            try {
                wait();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean readsWhole() {
        synchronized (cache) {
            return cache.readsWhole();
        }
    }

    private boolean isToFollowBudget() {
        synchronized (cache) {
            return cache.isToFollowBudget();
        }
    }

    private synchronized void followBudget() {
        // An earlier step would end in a cache that never received its references.
        if (cache.isToFollowBudget() && begun - ended <= 1) {
            cache.followBudget(window);
        }
    }

    /** Returns the current status of this reader. */
    synchronized StreamStatus status() {
        double seconds = (System.nanoTime() - startNanos) / 1e9;
        return new StreamStatus(
                inode,
                readerAt,
                size,
                readerAt - start,
                seconds,
                containerReads,
                diskBytes,
                ssdBytes,
                memoryBytes,
                window.heldBytes() + cache.heldBytes() + tableBytes);
    }

    private synchronized long stepBytes() {
        long most = Math.min(MAX_STEP_BYTES, budget.stepBytes());
        return Math.min(stepBytes, Math.max(FIRST_STEP_BYTES / 4, Math.min(most, mostAhead)));
    }

    /** See {@link Step.Window}. */
    private synchronized long[] promise(long[] containers, Step step) {
        return cache.promise(containers, step, window, charges);
    }

    /** @param step the step that ends; null if it could not begin */
    private void end(@Nullable Step step) {
        if (step == null) {
            endPlanning();
            tell();
            return;
        }
        try {
            notePlanned(step);
        } finally {
            awaitTurn(step);
            endInTurn(step);
            tell();
        }
    }

    private void tell() {
        List<TakenChunks.Told> toTell;
        synchronized (this) {
            toTell = taken.toTell();
        }
        toTell.forEach(told -> told.tell(reads));
    }

    private synchronized void endPlanning() {
        planning = false;
        releaseIfDone();
    }

    private synchronized void endInTurn(Step step) {
        window.fetched(step.references(), step.plannedTo());
        taken.ended(step.first());
        stepBytes = Math.min(MAX_STEP_BYTES, 2 * stepBytes);
        // Some misses are requests that arrive too late. A file that is being written has many misses in each step.
        misses /= 2;
        ended++;
        notifyAll();
        if (closed) {
            releaseIfDone();
        } else {
            pass();
            requestStepIfDue();
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
        tell();
    }

    synchronized boolean isClosed() {
        return closed;
    }

    /** As {@link #close}, but parks chunks that the reader has not taken: another position replaces this one. */
    public void park() {
        synchronized (this) {
            if (!closed) {
                parks = true;
                end();
            }
        }
        tell();
    }

    /** Releases all memory, when the steps under way have ended. Idempotent. */
    @Override
    public void close() {
        end();
        tell();
    }

    /** As {@link #close}; the caller has to call {@link #tell}. */
    private synchronized void end() {
        if (!closed) {
            closed = true;
            notifyAll();
            releaseIfDone();
        }
    }

    /**
     * Releases what is held, if this is closed and no step is under way: steps under way need it, so the last one of
     * them releases it.
     */
    private void releaseIfDone() {
        if (!closed || isStepping() || released) {
            return;
        }
        released = true;
        window.releaseAll(parks);
        cache.releaseAll();
        pinned.memory().add(-tableBytes);
        tableBytes = 0;
        budget.leave();
        onClosed.accept(this);
    }
}
