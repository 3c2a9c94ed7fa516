package org.opendedup.sar.restore;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.restore.HeldChunks.Held;
import org.opendedup.sar.restore.cache.ContainerCache;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads ahead of one reader in sequence, in steps: the chunks of the next few MiB of the file are brought into memory in the order of
 * the disk, and with them, from the same containers, chunks that the recipe wants later (lookahead paper §3.3). What stays in
 * memory behind a step is decided by a {@link ContainerCache}.
 *
 * <pre>
 *   passed | fetched, for the reader | being fetched | window: looked at
 *          ^ reference 0             ^ fetched       ^ planned         ^ count
 * </pre>
 *
 * While the frames of a step are decoded the disk reads for the next one, and the one behind that is planned; they end in their
 * order. Safe for use by many threads.
 */
final class Lookahead implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(Lookahead.class);

    /** Requests of one reader come side by side and out of order: what lies so far behind the furthest is kept for them. */
    private static final int SLACK_BYTES = 12 << 20;
    /** The first step is short, so that its bytes are there early; each next one is twice as long. */
    private static final int FIRST_STEP_BYTES = 1 << 20;
    /** One is being decoded, the disk reads for one, and one is planned and comes next. */
    private static final int STEPS_UNDER_WAY = 3;

    /** While a step is made, others wait for the disk: 200 ms. */
    private static final int MAX_STEP_BYTES = 32 << 20;
    /** A step that would have less of its file for each reference ends sooner: each may want a frame of its own. */
    private static final int MIN_REFERENCE_BYTES = 4 << 10;
    /** After so many requests for chunks that the recipe did not have when it was looked at, it is looked at anew. */
    private static final int MAX_MISSES = 8;
    /** A window is looked at while it is read, not before: so many steps ahead of each. */
    private static final int LOOK_STEPS = 16;

    private final StepReads reads;
    private final HeldChunks held;
    private final StreamBudget.Share budget;
    private final long inode;
    private final RecipeCursor cursor;
    private final Steps steps;
    private final Consumer<Lookahead> onClosed;
    private final ChunkCharges charges;

    /** Guarded by itself, as is {@link #cursor}; its monitor is taken before that of this. */
    private final ReaderCache cache;

    /** Guarded by this, as is all below it. */
    private final ReaderWindow window;

    private long stepBytes = FIRST_STEP_BYTES;
    private long readerAt;
    private long size;

    private final long start;
    private final long startNanos = System.nanoTime();
    /** Requests of the reader that are under way. */
    private int requests;
    /** When the last one began, or ended. */
    private long usedNanos = startNanos;

    private long containerReads;
    private long diskBytes;
    private long ssdBytes;
    private long memoryBytes;
    /** Of the tables when they were looked at last. */
    private long tableBytes;

    private int misses;

    /** A step is asked for, planned or waits for the disk: one at a time. */
    private boolean planning;
    /** Steps that have begun, and those that have ended: at most {@link #STEPS_UNDER_WAY} more have begun. */
    private long begun;

    private long ended;
    private boolean closed;
    private boolean failed;
    /** All memory was given back. */
    private boolean released;

    /** Runs steps. */
    @FunctionalInterface
    interface Steps {
        /** Has {@link #step} called soon, by another thread; false: it will not be, because all is being closed. */
        boolean request(Lookahead lookahead);
    }

    /**
     * @param cursor walks over the file from byte {@code from} on
     * @param size of the file, in bytes
     * @param budget the memory of this reader, which this gives back
     * @param onClosed told, once, when this has given its memory back
     */
    Lookahead(
            StepReads reads,
            StreamBudget.Share budget,
            long inode,
            RecipeCursor cursor,
            long from,
            long size,
            Steps steps,
            Consumer<Lookahead> onClosed) {
        this.reads = reads;
        this.held = reads.held();
        this.budget = budget;
        this.inode = inode;
        this.cursor = cursor;
        this.steps = steps;
        this.onClosed = onClosed;
        this.size = size;
        start = from;
        readerAt = from;
        charges = new ChunkCharges(held);
        window = new ReaderWindow(held, from);
        cache = new ReaderCache(held, budget);
    }

    /**
     * The reader asks for what lies before byte {@code readerAt} of its file, which has {@code size} bytes now. Does nothing once this is
     * closed, as it may be at any moment.
     */
    synchronized void note(long readerAt, long size) {
        usedNanos = System.nanoTime();
        if (closed) {
            return;
        }
        this.readerAt = Math.max(this.readerAt, readerAt);
        this.size = size;
        pass();
        requestStepIfDue();
    }

    /** A request of the reader begins: until it {@link #leave}s, the reader is not idle, however long it has to wait for the disk. */
    synchronized void enter() {
        requests++;
    }

    synchronized void leave() {
        requests--;
        usedNanos = System.nanoTime();
    }

    private void pass() {
        long ahead = budget.aheadBytes();
        window.pass(readerAt - Math.min(SLACK_BYTES, ahead / 4));
        // More came than was charged for, or others have joined.
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
        // A reader that stops early has not had much read for it.
        boolean isEarned = window.plannedTo() - readerAt <= Math.max(2L * FIRST_STEP_BYTES, 2 * (readerAt - start));
        if (isEarned && isRoom() || window.fetchedTo() <= readerAt && makeRoom()) {
            planning = steps.request(this);
            if (!planning) {
                close();
            }
        }
    }

    private boolean isRoom() {
        return window.heldBytes() + withRooms(stepBytes()) <= budget.aheadBytes();
    }

    /** What so many bytes of chunks of usual sizes take. */
    private static long withRooms(long chunkBytes) {
        return chunkBytes + chunkBytes / 8;
    }

    /** The reader has come to the end of what is fetched: what lies behind it may go. Returns whether there is room for a step. */
    private boolean makeRoom() {
        window.passDownTo(Math.max(0, budget.aheadBytes() - withRooms(stepBytes())), readerAt);
        return isRoom() || begun == ended;
    }

    /**
     * The bytes of a chunk that the reader wants at an offset of its file, to be closed. Waits for them while they are being fetched, or
     * about to be.
     *
     * @return null if they have not been fetched: the caller has to do that
     */
    @Nullable
    Held chunk(long chunkId, long offset) throws IOException {
        Held there = held.use(chunkId);
        if (there != null) {
            return there;
        }
        try {
            awaitPlan(offset);
            Held come = held.await(chunkId);
            if (come == null) {
                noteMiss(chunkId, offset);
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

    /** What is planned may be out of date: the file was written to meanwhile. The reader will be read ahead for from where it is. */
    private synchronized void noteMiss(long chunkId, long offset) {
        if (window.isMissed(chunkId, offset) && ++misses > MAX_MISSES) {
            close();
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
            // Whoever runs steps does not look at how they end.
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
            long bytes = Math.min(cache.windowBytes(), LOOK_STEPS * stepBytes());
            look(whole ? Math.max(FIRST_STEP_BYTES, bytes) : stepBytes() + bytes);
            plan(step, whole);
        }
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
        held.memory().add(bytes - tableBytes);
        tableBytes = bytes;
    }

    /** What a step asks for when it is next at the disk; when the disk has come, the next step may be planned. */
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
     * Waits until the earlier steps have ended: for the policies decide by the order of the references, those of whole containers even
     * about what a step is.
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
        // A step before this one would end in a cache that was never told of its references.
        if (cache.isToFollowBudget() && begun - ended <= 1) {
            cache.followBudget(window);
        }
    }

    /** How this reader does. */
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
        return Math.min(stepBytes, Math.min(MAX_STEP_BYTES, budget.stepBytes()));
    }

    /** Follows the recipe until so many bytes of chunks are known beyond what is planned, or as many references as there may be. */
    private void look(long bytes) throws IOException {
        long end;
        long known;
        int room;
        synchronized (this) {
            end = size;
            known = window.lookedAtBytes();
            // Whatever else is planned, the next step has to be known.
            room = Math.max(budget.references() - window.count(), maxReferences() - window.count() + window.planned());
        }
        while (known < bytes && room-- > 0) {
            if (!next(end)) {
                noteLooked(end);
                return;
            }
            cache.ahead(cursor.chunkId(), cursor.neededBytes());
            known += cursor.neededBytes();
            synchronized (this) {
                window.look(cursor);
            }
        }
    }

    /** References of one step at most. */
    private int maxReferences() {
        return (int) Math.max(1, stepBytes() / MIN_REFERENCE_BYTES);
    }

    /** What lies behind a part of the recipe that can't be read is not known, until the reader has come there. */
    private boolean next(long end) {
        try {
            return cursor.next(end);
        } catch (IOException e) {
            log.debug("the recipe of inode {} can't be followed; the reader will see why", inode, e);
            return false;
        }
    }

    private synchronized void noteLooked(long end) {
        window.lookedTo(end);
    }

    /** Adds the next references to a step, and holds their chunks. */
    private synchronized void plan(Step step, boolean whole) throws IOException {
        long most = stepBytes();
        long mostCharged = most + most / 4;
        int mostReferences = maxReferences();
        long bytes = 0;
        for (int next = window.planned(); next < window.count(); next = window.planned()) {
            boolean isFull = bytes >= most || step.charged() >= mostCharged || step.references() >= mostReferences;
            if (isFull || whole && !cache.goesOn(step, window.chunkId(next))) {
                break;
            }
            long chunkId = window.chunkId(next);
            int needed = window.neededBytes(next);
            int charged = window.plan(charges.of(chunkId, needed));
            step.add(chunkId, window.check(next), needed, charged);
            bytes += needed;
        }
        step.setPlannedTo(window.endPlan());
        noteTables();
        noteUse();
        notifyAll();
    }

    /** See {@link Step.Window}. */
    private synchronized long[] promise(long[] containers, Step step) {
        return cache.promise(containers, step, window, charges);
    }

    /** @param step null: it could not begin */
    private void end(@Nullable Step step) {
        if (step == null) {
            endPlanning();
            return;
        }
        try {
            notePlanned(step);
        } finally {
            awaitTurn(step);
            endInTurn(step);
        }
    }

    private synchronized void endPlanning() {
        planning = false;
        releaseIfDone();
    }

    private synchronized void endInTurn(Step step) {
        window.fetched(step.references(), step.plannedTo());
        stepBytes = Math.min(MAX_STEP_BYTES, 2 * stepBytes);
        // Some always come too late; of a file that is written to, many in each step.
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
            close();
        }
    }

    /** Whether this was closed because something could not be read. */
    synchronized boolean hasFailed() {
        return failed;
    }

    /** Closes this if its reader has asked for nothing for so long, and waits for nothing. */
    synchronized void closeIfIdle(long nanos) {
        if (requests == 0 && System.nanoTime() - usedNanos > nanos) {
            close();
        }
    }

    synchronized boolean isClosed() {
        return closed;
    }

    /** Gives all memory back, when the steps under way have ended. Idempotent. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            notifyAll();
            releaseIfDone();
        }
    }

    /** Steps under way need what is held; the last one of them releases it. */
    private void releaseIfDone() {
        if (!closed || isStepping() || released) {
            return;
        }
        released = true;
        window.releaseAll();
        cache.releaseAll();
        held.memory().add(-tableBytes);
        tableBytes = 0;
        budget.leave();
        onClosed.accept(this);
    }
}
