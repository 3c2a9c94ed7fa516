package org.opendedup.sar.restore;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.LongIntMap;
import org.opendedup.sar.restore.HeldChunks.Held;
import org.opendedup.sar.restore.cache.ChunkHolder;
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
    /** The reader is to have enough before it while the next step comes, and what it has just passed is still there. */
    private static final int STEPS_AHEAD = 5;
    /** One is being decoded, the disk reads for one, and one is planned and comes next. */
    private static final int STEPS_UNDER_WAY = 3;

    /** While a step is made, others wait for the disk: 200 ms. */
    private static final int MAX_STEP_BYTES = 32 << 20;
    /** After so many requests for chunks that the recipe did not have when it was looked at, it is looked at anew. */
    private static final int MAX_MISSES = 8;
    /** A window is looked at while it is read, not before: so many steps ahead of each. */
    private static final int LOOK_STEPS = 16;
    /** Two containers. A cache that has no room for them is told what was read of each, and only that is read. */
    private static final int MIN_WHOLE_BYTES = 8 << 20;

    private final StepReads reads;
    private final HeldChunks held;
    private final StreamBudget.Share budget;
    private final long inode;
    private final RecipeCursor cursor;
    private final Steps steps;
    private final Consumer<Lookahead> onClosed;

    /** Guards what decides about the window: the six below it. Taken before the monitor of this. */
    private final Object policy = new Object();

    private ContainerCache cache;

    private long cacheMemory;
    /** Chunks for the cache that steps under way bring; the values mean nothing. */
    private final LongIntMap promised = new LongIntMap();

    private long promisedBytes;

    private final Keeper keeper = new Keeper();
    /** Chunks that are held for the cache; the values mean nothing. */
    private final LongIntMap kept = new LongIntMap();

    /** Guarded by this, as is all below it. */
    private final References references = new References();

    private int fetched;
    private int planned;
    /** Bytes of the references before {@link #planned}. */
    private long plannedBytes;
    /** Bytes of those from there on. */
    private long windowBytes;

    private long stepBytes = FIRST_STEP_BYTES;
    private long readerAt;
    private long size;
    /** Every reference that begins before this offset is planned. */
    private long plannedTo;
    /** What the recipe says before this offset is known. */
    private long lookedTo;
    /** Every reference that begins before this offset is fetched. */
    private long fetchedTo;

    private final long start;
    private final long startNanos = System.nanoTime();
    private long usedNanos = startNanos;
    private long containerReads;
    private long diskBytes;
    private long ssdBytes;
    private long memoryBytes;
    /** Bytes in the cache after the last step. */
    private long cacheBytes;
    /** Of the tables after the last step. */
    private long tableBytes;

    private int misses;

    /** A step is asked for, planned or waits for the disk: one at a time. */
    private boolean planning;
    /** Steps that have begun, and those that have ended: at most {@link #STEPS_UNDER_WAY} more have begun. */
    private long begun;

    private long ended;
    private boolean closed;
    private boolean failed;

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
        plannedTo = from;
        lookedTo = from;
        fetchedTo = from;
        cacheMemory = budget.cacheBytes();
        cache = budget.cache(cacheMemory, keeper);
    }

    /** Holds what the cache wants to stay. */
    private final class Keeper implements ChunkHolder {
        @Override
        public void keep(long chunkId) {
            if (!kept.contains(chunkId)) {
                kept.put(chunkId, 0);
                held.hold(chunkId);
            }
        }

        @Override
        public void drop(long chunkId) {
            if (kept.remove(chunkId)) {
                held.release(chunkId);
            }
        }
    }

    /** The reader asks for what lies before byte {@code readerAt} of its file, which has {@code size} bytes now. */
    synchronized void note(long readerAt, long size) {
        this.readerAt = Math.max(this.readerAt, readerAt);
        this.size = size;
        usedNanos = System.nanoTime();
        pass();
        requestStepIfDue();
    }

    private void pass() {
        long passed = readerAt - Math.min(SLACK_BYTES, budget.aheadBytes() / 4);
        while (fetched > 0 && references.offset(0) + references.neededBytes(0) <= passed) {
            releaseFirst();
            fetched--;
        }
        noteUse();
    }

    private void noteUse() {
        budget.use(plannedBytes, cacheMemory, references.count());
    }

    private void releaseFirst() {
        held.release(references.chunkId(0));
        plannedBytes -= references.neededBytes(0);
        references.removeFirst();
        planned--;
    }

    private void requestStepIfDue() {
        if (closed || planning || begun - ended >= STEPS_UNDER_WAY || plannedTo >= size) {
            return;
        }
        // A reader that stops early has not had much read for it.
        boolean isEarned = plannedTo - readerAt <= Math.max(2L * FIRST_STEP_BYTES, 2 * (readerAt - start));
        boolean isRoom = isEarned && plannedBytes + stepBytes() <= budget.aheadBytes();
        if (isRoom || fetchedTo <= readerAt) {
            planning = steps.request(this);
            if (!planning) {
                close();
            }
        }
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
                noteMiss(offset);
            }
            return come;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for what is read ahead");
        }
    }

    private synchronized void awaitPlan(long offset) throws InterruptedException {
        while (!closed && offset >= plannedTo && isStepping()) {
            wait();
        }
    }

    /** What is planned may be out of date: the file was written to meanwhile. The reader will be read ahead for from where it is. */
    private synchronized void noteMiss(long offset) {
        boolean wasPlanned = offset < fetchedTo && (fetched == 0 || offset >= references.offset(0));
        if (wasPlanned && ++misses > MAX_MISSES) {
            close();
        }
    }

    private boolean isStepping() {
        return planning || begun > ended;
    }

    /** Makes the step that was requested. */
    void step() {
        Step step = begin();
        try (step) {
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
        return new Step(reads, inode, begun++, size);
    }

    private void fetch(Step step) throws IOException {
        if (isClosed()) {
            return;
        }
        boolean whole = readsWhole();
        if (whole || isToFollowBudget()) {
            awaitTurn(step);
        }
        synchronized (policy) {
            followBudget();
            long window = Math.min(cache.windowBytes(), LOOK_STEPS * stepBytes());
            look(whole ? Math.max(FIRST_STEP_BYTES, window) : stepBytes() + window);
            plan(step, whole);
        }
        StepReads.Fetched fetched = step.fetch(new WindowOf(step));
        awaitTurn(step);
        synchronized (policy) {
            for (long chunkId : step.promised()) {
                promised.remove(chunkId);
            }
            promisedBytes -= step.promisedBytes();
            step.tell(fetched.containers(), cache);
            for (int i = 0; i < step.references(); i++) {
                cache.advance();
            }
            count(fetched, cache.weightBytes());
            noteTables(cache.tableBytes());
        }
    }

    private synchronized void noteTables(long cacheTableBytes) {
        long bytes = cacheTableBytes + references.heapBytes();
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
            synchronized (policy) {
                return wantedOf(containers, step);
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
        synchronized (policy) {
            return cache.takesWholeContainers() && cacheMemory >= MIN_WHOLE_BYTES;
        }
    }

    /** Whether there are far more readers than before, or fewer. */
    private boolean isToFollowBudget() {
        synchronized (policy) {
            long memory = budget.cacheBytes();
            return cacheMemory > memory / 4 * 5 || cacheMemory < memory / 3;
        }
    }

    /** Begins with an empty cache of another size if it is to. */
    private synchronized void followBudget() {
        // A step before this one would end in a cache that was never told of its references.
        if (!isToFollowBudget() || begun - ended > 1) {
            return;
        }
        long memory = budget.cacheBytes();
        forgetKept();
        cacheMemory = memory;
        cache = budget.cache(memory, keeper);
        for (int i = planned; i < references.count(); i++) {
            cache.ahead(references.chunkId(i), references.neededBytes(i));
        }
    }

    private synchronized void count(StepReads.Fetched fetched, long weightBytes) {
        containerReads += fetched.containers().size();
        diskBytes += fetched.diskBytes();
        ssdBytes += fetched.ssdBytes();
        memoryBytes += fetched.memoryBytes();
        cacheBytes = weightBytes;
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
                plannedBytes + cacheBytes);
    }

    private synchronized long stepBytes() {
        return Math.min(stepBytes, Math.min(MAX_STEP_BYTES, budget.aheadBytes() / STEPS_AHEAD));
    }

    /** Follows the recipe until so many bytes of chunks are known beyond what is planned. */
    private void look(long bytes) throws IOException {
        long end;
        long known;
        int room;
        synchronized (this) {
            end = size;
            known = windowBytes;
            room = budget.references() - references.count();
        }
        // However small the chunks are, the next step has to be known.
        long needed = stepBytes();
        while (known < bytes && (room-- > 0 || known < needed)) {
            if (!next(end)) {
                noteLooked(end);
                return;
            }
            cache.ahead(cursor.chunkId(), cursor.neededBytes());
            known += cursor.neededBytes();
            synchronized (this) {
                references.add(cursor.offset(), cursor.chunkId(), cursor.neededBytes(), cursor.check());
                windowBytes = known;
                lookedTo = cursor.offset() + 1;
            }
        }
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
        lookedTo = end;
    }

    /** Adds the next references to a step, and holds their chunks. */
    private synchronized void plan(Step step, boolean whole) throws IOException {
        long most = stepBytes();
        long bytes = 0;
        while (planned < references.count() && bytes < most && (!whole || goesOn(step, references.chunkId(planned)))) {
            int needed = references.neededBytes(planned);
            step.add(references.chunkId(planned), references.check(planned), needed);
            bytes += needed;
            planned++;
            plannedBytes += needed;
            windowBytes -= needed;
        }
        plannedTo = planned < references.count() ? references.offset(planned) : lookedTo;
        step.setPlannedTo(plannedTo);
        noteUse();
        notifyAll();
    }

    /**
     * A cache of whole containers decides about each by what was used before. So a step for it is what is in the cache, or the
     * references that follow each other in one container, which is read.
     */
    private boolean goesOn(Step step, long chunkId) {
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

    /** See {@link Step.Window}. */
    private synchronized long[] wantedOf(long[] containers, Step step) {
        if (containers.length == 0) {
            return containers;
        }
        long[] chunks = new long[64];
        int count = 0;
        // What comes may be worth more than what is there: the cache is to choose.
        long most = Math.max(0, cacheMemory - cache.weightBytes() / 2 - promisedBytes);
        long room = most;
        for (int i = planned; i < references.count() && room > 0; i++) {
            long chunkId = references.chunkId(i);
            if (Arrays.binarySearch(containers, ChunkId.container(chunkId)) >= 0
                    && cache.wants(chunkId)
                    && !promised.contains(chunkId)
                    && !held.has(chunkId)) {
                promised.put(chunkId, 0);
                chunks = count == chunks.length ? Arrays.copyOf(chunks, 2 * count) : chunks;
                chunks[count++] = chunkId;
                room -= references.neededBytes(i);
            }
        }
        long[] wanted = Arrays.copyOf(chunks, count);
        step.setPromised(wanted, most - room);
        promisedBytes += most - room;
        return wanted;
    }

    private void end(Step step) {
        notePlanned(step);
        awaitTurn(step);
        synchronized (this) {
            fetched += step.references();
            fetchedTo = Math.max(fetchedTo, step.plannedTo());
            stepBytes = 2 * stepBytes();
            // Some always come too late; of a file that is written to, many in each step.
            misses /= 2;
            ended++;
            notifyAll();
            if (!closed) {
                pass();
                requestStepIfDue();
            } else if (!isStepping()) {
                releaseAll();
            }
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

    /** Closes this if its reader has not asked for anything for so long. */
    synchronized void closeIfIdle(long nanos) {
        if (System.nanoTime() - usedNanos > nanos) {
            close();
        }
    }

    synchronized boolean isClosed() {
        return closed;
    }

    /** Gives all memory back, when a step under way has ended. Idempotent. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            notifyAll();
            if (!isStepping()) {
                releaseAll();
            }
        }
    }

    private void releaseAll() {
        while (planned > 0) {
            releaseFirst();
        }
        forgetKept();
        held.memory().add(-tableBytes);
        tableBytes = 0;
        budget.leave();
        onClosed.accept(this);
    }

    private void forgetKept() {
        kept.forEachKey(held::release);
        kept.clear();
    }
}
