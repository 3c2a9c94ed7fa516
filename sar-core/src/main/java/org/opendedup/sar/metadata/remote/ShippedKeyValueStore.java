package org.opendedup.sar.metadata.remote;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Threads;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A local database whose changes follow into an object store. Each batch is committed here first, and then put into the
 * store, in the same order, as a part of a log segment; {@link Promise} says for what a commit waits. A segment is put
 * when a second has passed, when it is large enough, or when somebody waits. Before it is put, the {@link DataBarrier}
 * is asked for everything that was forced before its last commit.
 *
 * <p>The store's state is always that of the local database at an earlier moment. What the database has and no segment
 * can have any more, because the process ended in between, gets into the store by a checkpoint (a leap of the chain).
 *
 * <p>Sits below the seal of an encrypted volume: what it puts is sealed as on the disk. Safe for use by many threads.
 */
public final class ShippedKeyValueStore implements KeyValueStore {
    private static final Logger log = LoggerFactory.getLogger(ShippedKeyValueStore.class);
    private static final long PERIOD_MS = 1000;
    /** After a checkpoint that failed, in milliseconds: each try reads the tables. */
    private static final long RETRY_MS = 60_000;

    /**
     * An unmount makes a checkpoint if the log since the last one has this part of its bounds, so an opening is fast.
     */
    private static final int CLOSING_PART = 8;

    static final String CHECKPOINT = ".checkpoint";
    static final String LEAP = ".leap";

    /**
     * Parts that work together.
     *
     * @param folder of the local database
     */
    record Parts(
            Path folder,
            KeyValueStore database,
            Databases databases,
            Chain chain,
            Checkpoints checkpoints,
            DataBarrier barrier,
            InstantSource clock) {}

    /**
     * A batch that is committed here and not in the store.
     *
     * @param last number of its last change
     * @param mark of the barrier after its commit
     * @param sinceMs when it was committed
     */
    private record Waiting(LoggedBatch batch, long last, long mark, long sinceMs) {
        /** Returns the number of the last change before it. */
        long first() {
            return last - batch.count();
        }
    }

    /**
     * A segment that is being put.
     *
     * @param batches number of batches at the head of the queue that it has
     * @param mark of the barrier after the last of them
     */
    private record Pending(Chain.Put put, int batches, long mark) {}

    private final Parts parts;
    private final KeyValueStore database;
    private final Chain chain;
    private final Promise promise;
    private final ShippingLimits limits;

    /**
     * Held while a batch is committed here and queued, so that both have one order. Acquired after {@link #shipping}.
     */
    private final ReentrantLock order = new ReentrantLock();

    /** Guarded by {@link #order}. */
    private final Queue<Waiting> queue = new ArrayDeque<>();

    /** Number of the last change that was committed here and queued. Guarded by {@link #order}. */
    private long sequence;

    /** The last batch, if its commit failed: the database may have it. Guarded by {@link #order}. */
    private @Nullable LoggedBatch doubtful;

    /** Whether the database has changes that are neither in the store nor queued. Guarded by {@link #order}. */
    private boolean isAhead;

    /** Bytes of the queue that a leap has taken, and that are not in the store yet. Guarded by {@link #order}. */
    private long leapBytes;

    private volatile long waitingBytes;

    /** Held while a segment is put. Acquired after {@link #checkpointing}. */
    private final ReentrantLock shipping = new ReentrantLock();

    /** A segment whose put had no answer: nothing else can be put before it. Guarded by {@link #shipping}. */
    private @Nullable Pending pending;

    /** End of the chain. Changes under {@link #shipping}. */
    private volatile ChainPoint point;

    /** Points of the chain since the last checkpoint, by their last change. Guarded by {@link #shipping}. */
    private final TreeMap<Long, ChainPoint> points;

    /** Last change of the newest leap; an earlier state has no place in the chain. Guarded by {@link #shipping}. */
    private long leapt;

    private volatile boolean isTaken;

    /** Held while a checkpoint is made. Acquired first. */
    private final ReentrantLock checkpointing = new ReentrantLock();

    private volatile long logBytes;
    private volatile long logSegments;
    private volatile long segments;
    private volatile long segmentBytes;
    private final AtomicLong checkpoints = new AtomicLong();
    private final AtomicLong checkpointBytes = new AtomicLong();
    private final Trouble shippingTrouble =
            new Trouble("changes of the metadata do not get into the object store; it is tried again");
    private final Trouble checkpointTrouble =
            new Trouble("no checkpoint of the metadata gets into the object store; it is tried again in a minute");

    private @Nullable ScheduledExecutorService timer;
    private @Nullable ExecutorService worker;
    private final AtomicBoolean isCheckpointing = new AtomicBoolean();
    private volatile long nextCheckpointMs;
    private final AtomicBoolean isWoken = new AtomicBoolean();
    private boolean closed;

    /**
     * @param end where this owner's part of the chain begins
     * @param since points of the chain since the newest checkpoint, with {@code end}
     * @param logBytes bytes of the segments since then
     */
    ShippedKeyValueStore(
            Parts parts,
            Promise promise,
            ShippingLimits limits,
            ChainPoint end,
            TreeMap<Long, ChainPoint> since,
            long logBytes)
            throws IOException {
        this.parts = parts;
        this.promise = promise;
        this.limits = limits;
        this.logBytes = logBytes;
        database = parts.database();
        chain = parts.chain();
        point = end;
        points = since;
        logSegments = since.size();
        sequence = database.changes();
        isAhead = sequence > end.sequence();
        leapt = end.sequence();
    }

    /** Begins to put segments each second, and checkpoints in the background. */
    public void start(String name) {
        timer = Executors.newSingleThreadScheduledExecutor(Threads.named(name + "-ship"));
        worker = Executors.newSingleThreadExecutor(Threads.named(name + "-checkpoint"));
        timer.scheduleWithFixedDelay(Threads.lasting(this::tick), PERIOD_MS, PERIOD_MS, TimeUnit.MILLISECONDS);
    }

    private void tick() {
        try {
            ship();
            shippingTrouble.ends();
        } catch (IOException | RuntimeException e) {
            shippingTrouble.is(e);
            return;
        }
        if (isCheckpointDue(1)
                && parts.clock().millis() >= nextCheckpointMs
                && isCheckpointing.compareAndSet(false, true)) {
            boolean begun = false;
            try {
                Objects.requireNonNull(worker).execute(this::checkpointInBackground);
                begun = true;
            } finally {
                if (!begun) {
                    isCheckpointing.set(false);
                }
            }
        }
    }

    private void checkpointInBackground() {
        try {
            checkpointToStore();
            checkpointTrouble.ends();
        } catch (IOException | RuntimeException e) {
            nextCheckpointMs = parts.clock().millis() + RETRY_MS;
            checkpointTrouble.is(e);
        } finally {
            isCheckpointing.set(false);
        }
    }

    /** What fails in the background; is in the log once until it ends. */
    private static final class Trouble {
        private final String what;
        private volatile @Nullable String failure;

        Trouble(String what) {
            this.what = what;
        }

        void is(Exception e) {
            if (failure == null) {
                log.warn("{}: {}", what, e.toString());
            }
            failure = e.getMessage() == null ? e.toString() : e.getMessage();
        }

        void ends() {
            failure = null;
        }
    }

    /** Returns why the last segment or checkpoint is not in the store; null if it is. */
    public @Nullable String failure() {
        String ofSegment = shippingTrouble.failure;
        return ofSegment != null ? ofSegment : checkpointTrouble.failure;
    }

    private boolean isCheckpointDue(int part) {
        return logBytes * part >= limits.checkpointBytes() || logSegments * part >= limits.checkpointSegments();
    }

    public ShippingStatistics statistics() {
        order.lock();
        try {
            Waiting oldest = queue.peek();
            return new ShippingStatistics(
                    waitingBytes,
                    oldest == null ? 0 : Math.max(0, parts.clock().millis() - oldest.sinceMs()),
                    segments,
                    segmentBytes,
                    checkpoints.get(),
                    checkpointBytes.get(),
                    logBytes);
        } finally {
            order.unlock();
        }
    }

    /**
     * Puts everything into the store that was committed before the call. To be called before data are deleted in a
     * store that only earlier metadata refer to: another machine would find these metadata and not the data.
     *
     * @throws OwnerChangedException if the volume has another owner
     * @throws IOException if the store does not take it now; another call goes on
     */
    @Override
    public void ship() throws IOException {
        shipTo(committed());
    }

    private long committed() {
        order.lock();
        try {
            return sequence;
        } finally {
            order.unlock();
        }
    }

    private void shipTo(long last) throws IOException {
        shipping.lock();
        try {
            while (point.sequence() < last) {
                step();
            }
        } finally {
            shipping.unlock();
        }
    }

    /** Puts one segment. The caller holds {@link #shipping}. */
    private void step() throws IOException {
        refuseIfTaken();
        Pending next = pending;
        if (next == null) {
            next = prepare();
            pending = next;
        }
        if (!chain.put(next.put())) {
            throw taken();
        }
        pending = null;
        finish(next);
    }

    private OwnerChangedException taken() {
        OwnerChangedException changed = new OwnerChangedException(point.owner(), chain.toString());
        if (!isTaken) {
            isTaken = true;
            parts.barrier().ownerChanged(String.valueOf(changed.getMessage()));
        }
        return changed;
    }

    private void refuseIfTaken() throws OwnerChangedException {
        if (isTaken) {
            throw new OwnerChangedException(point.owner(), chain.toString());
        }
    }

    /** Returns how far the log in the store goes at least, for {@link RemoteMetadata#expecting}. */
    public String end() {
        return LogEnd.of(point).text();
    }

    /**
     * Checks that this still is the owner: the next place of the chain is free. To be called before something is
     * deleted in the store. Waits while a segment is put.
     *
     * @throws OwnerChangedException if the volume has another owner
     */
    public void requireOwnership() throws IOException {
        shipping.lock();
        try {
            refuseIfTaken();
            if (pending != null) {
                step();
            }
            if (!chain.isFree(point)) {
                throw taken();
            }
        } finally {
            shipping.unlock();
        }
    }

    private Pending prepare() throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        int batches = 0;
        long mark = 0;
        long last = point.sequence();
        order.lock();
        try {
            Waiting oldest = queue.peek();
            isAhead |= oldest != null && oldest.first() != last;
            if (!isAhead) {
                for (Waiting waiting : queue) {
                    if (batches > 0 && body.size() + waiting.batch().bytes() > limits.segmentBytes()) {
                        break;
                    }
                    waiting.batch().writeTo(body);
                    mark = waiting.mark();
                    last = waiting.last();
                    batches++;
                }
                if (batches == 0) {
                    throw new IOException("a commit to the local database failed; the next one shows what it has");
                }
            }
        } finally {
            order.unlock();
        }
        if (batches == 0) {
            return leap();
        }
        parts.barrier().await(mark);
        return new Pending(chain.after(point, last, new LogSegment.Changes(body.toByteArray())), batches, mark);
    }

    /** Puts a checkpoint of what no segment has, and makes the segment that names it. */
    private Pending leap() throws IOException {
        Path copy = sibling(LEAP);
        PrivateFiles.deleteFolder(copy);
        long last;
        long mark;
        order.lock();
        try {
            settle();
            requireCheckpoint(copy);
            last = database.changes();
            mark = parts.barrier().mark();
            sequence = last;
            queue.forEach(waiting -> leapBytes += waiting.batch().bytes());
            queue.clear();
            isAhead = false;
        } finally {
            order.unlock();
        }
        try {
            List<String> names = FileDirectory.open(copy).names();
            parts.barrier().await(mark);
            Checkpoints.Stored stored = parts.checkpoints().put(copy, names, point, last, true);
            count(stored);
            return new Pending(chain.after(point, last, new LogSegment.Leap(stored.name(), stored.crc())), 0, mark);
        } catch (IOException | RuntimeException e) {
            order.lock();
            isAhead = true;
            order.unlock();
            throw e;
        } finally {
            PrivateFiles.deleteFolder(copy);
        }
    }

    private void requireCheckpoint(Path copy) throws IOException {
        if (!database.checkpoint(copy)) {
            throw new IOException("the metadata are in no database with files");
        }
    }

    private void count(Checkpoints.Stored stored) {
        checkpoints.incrementAndGet();
        checkpointBytes.addAndGet(stored.newBytes());
    }

    private Path sibling(String suffix) {
        return parts.folder().resolveSibling(parts.folder().getFileName() + suffix);
    }

    private void finish(Pending put) {
        LogSegment segment = put.put().segment();
        point = put.put().point();
        parts.barrier().stored(put.mark());
        boolean isLeap = segment.content() instanceof LogSegment.Leap;
        order.lock();
        try {
            for (int i = 0; i < put.batches(); i++) {
                waitingBytes -= queue.remove().batch().bytes();
            }
            if (isLeap) {
                waitingBytes -= leapBytes;
                leapBytes = 0;
            }
        } finally {
            order.unlock();
        }
        if (isLeap) {
            leapt = point.sequence();
            points.clear();
            logBytes = 0;
            logSegments = 0;
        }
        points.put(point.sequence(), point);
        segments++;
        segmentBytes += put.put().bytes();
        logBytes += put.put().bytes();
        logSegments++;
    }

    /**
     * Puts a checkpoint into the store, and removes what nobody needs any more: later openings read only the log after
     * it. Commits go on meanwhile.
     */
    public void checkpointToStore() throws IOException {
        checkpointing.lock();
        try {
            Checkpoints.Stored stored = makeCheckpoint();
            if (stored != null && parts.barrier().mayRemoveMetadata()) {
                parts.checkpoints().collect(stored, this::requireOwnership);
            }
        } finally {
            checkpointing.unlock();
        }
    }

    /**
     * Reads all that an opening elsewhere would read. If something is missing or damaged, puts a checkpoint, after
     * which nothing of that is needed.
     */
    @Override
    public List<String> mendCopy(Reading reading) throws IOException {
        ship();
        List<String> damaged = parts.checkpoints().verify(point, reading);
        if (!damaged.isEmpty()) {
            requireOwnership();
            checkpointToStore();
        }
        return damaged;
    }

    /** Returns null if the chain has no place for the state that was copied: it was in the middle of a leap. */
    private Checkpoints.@Nullable Stored makeCheckpoint() throws IOException {
        Path copy = sibling(CHECKPOINT);
        PrivateFiles.deleteFolder(copy);
        try {
            requireCheckpoint(copy);
            List<String> names = FileDirectory.open(copy).names();
            long last;
            try (KeyValueStore looked = parts.databases().look(copy)) {
                last = looked.changes();
            }
            shipTo(last);
            ChainPoint place;
            long bytesBefore;
            long segmentsBefore;
            shipping.lock();
            try {
                Map.Entry<Long, ChainPoint> found = points.floorEntry(last);
                if (last < leapt || found == null) {
                    return null;
                }
                place = found.getValue();
                bytesBefore = logBytes;
                segmentsBefore = logSegments;
            } finally {
                shipping.unlock();
            }
            Checkpoints.Stored stored = parts.checkpoints().put(copy, names, place, last, false);
            count(stored);
            forgetBefore(place, bytesBefore, segmentsBefore);
            return stored;
        } finally {
            PrivateFiles.deleteFolder(copy);
        }
    }

    private void forgetBefore(ChainPoint place, long bytes, long count) {
        shipping.lock();
        try {
            points.headMap(place.sequence(), false).clear();
            logBytes = Math.max(0, logBytes - bytes);
            logSegments = Math.max(0, logSegments - count);
        } finally {
            shipping.unlock();
        }
    }

    /** Waits until the changes that wait for the store are within their bound. */
    private void admit() throws IOException {
        refuseIfTaken();
        if (waitingBytes <= limits.waitingBytes()) {
            return;
        }
        shipping.lock();
        try {
            while (waitingBytes > limits.waitingBytes()) {
                step();
            }
        } finally {
            shipping.unlock();
        }
    }

    private void commit(Batch batch, LoggedBatch logged, boolean isSynced) throws IOException {
        admit();
        long last;
        order.lock();
        try {
            settle();
            commitHere(batch, logged, isSynced);
            last = sequence;
        } finally {
            order.unlock();
        }
        if (isSynced && promise == Promise.REMOTE) {
            shipTo(last);
        } else if (timer != null && waitingBytes >= limits.segmentBytes()) {
            wake(timer);
        }
    }

    private void wake(ExecutorService shipper) {
        if (isWoken.compareAndSet(false, true)) {
            shipper.execute(() -> {
                isWoken.set(false);
                tick();
            });
        }
    }

    private void commitHere(Batch batch, LoggedBatch logged, boolean isSynced) throws IOException {
        try {
            if (isSynced) {
                batch.commit();
            } else {
                batch.commitLater();
            }
        } catch (IOException | RuntimeException e) {
            doubtful = logged;
            throw e;
        }
        enqueue(logged);
    }

    /** Adds a batch that the database has to the queue. The caller holds {@link #order}. */
    private void enqueue(LoggedBatch logged) throws IOException {
        long last = database.changes();
        if (last < sequence) {
            // The store may have what was lost. The next opening brings it back from there.
            throw new CorruptionException(
                    parts.folder().toString(), -1, "all changes up to number " + sequence, "those up to " + last);
        }
        if (last != sequence + logged.count()) {
            // Changed by somebody else, or in another way than was expected: only the database knows.
            isAhead = true;
        }
        sequence = last;
        if (logged.count() > 0) {
            queue.add(new Waiting(
                    logged, last, parts.barrier().mark(), parts.clock().millis()));
            waitingBytes += logged.bytes();
        }
    }

    /** Finds out whether the database has a batch whose commit failed. The caller holds {@link #order}. */
    private void settle() throws IOException {
        LoggedBatch failed = doubtful;
        if (failed == null) {
            return;
        }
        // A new batch has the database opened again, which decides it.
        database.batch().close();
        if (database.changes() != sequence) {
            enqueue(failed);
        }
        doubtful = null;
    }

    @Override
    public byte @Nullable [] get(Family family, byte[] key) throws IOException {
        return database.get(family, key);
    }

    @Override
    public Cursor scan(Family family, byte[] from, byte[] to) throws IOException {
        return database.scan(family, from, to);
    }

    @Override
    public Batch batch() throws IOException {
        Batch batch = database.batch();
        LoggedBatch logged = new LoggedBatch();
        return new Batch() {
            @Override
            public void put(Family family, byte[] key, byte[] value) throws IOException {
                batch.put(family, key, value);
                logged.put(family, key, value);
            }

            @Override
            public void delete(Family family, byte[] key) throws IOException {
                batch.delete(family, key);
                logged.delete(family, key);
            }

            @Override
            public void commit() throws IOException {
                ShippedKeyValueStore.this.commit(batch, logged, true);
            }

            @Override
            public void commitLater() throws IOException {
                ShippedKeyValueStore.this.commit(batch, logged, false);
            }

            @Override
            public void close() {
                batch.close();
            }
        };
    }

    @Override
    public long logBytes() throws IOException {
        return database.logBytes();
    }

    @Override
    public boolean isShipped() {
        return true;
    }

    @Override
    public long changes() throws IOException {
        return database.changes();
    }

    @Override
    public boolean checkpoint(Path target) throws IOException {
        return database.checkpoint(target);
    }

    /**
     * Puts what waits into the store, makes a checkpoint if the log is long, and closes the database.
     *
     * @throws IOException if something did not get into the store; the next opening on this machine puts it there,
     *     unless another owner has taken the volume over
     */
    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        Closing closing = new Closing();
        // Segments are put meanwhile: that takes long on a slow line, and this machine may be lost before its end.
        closing.run(parts.barrier()::drain);
        if (timer != null) {
            timer.shutdown();
        }
        // Waits for the segment that is being put, however slow the line is; an executor is waited for a minute only.
        closing.run(this::drain);
        for (ExecutorService executor : executors()) {
            closing.run(() -> Threads.end(executor));
        }
        closing.run(database::close);
        closing.run(parts.barrier()::close);
        closing.finish();
    }

    private List<ExecutorService> executors() {
        List<ExecutorService> all = new ArrayList<>();
        if (timer != null) {
            all.add(timer);
        }
        if (worker != null) {
            all.add(worker);
        }
        return all;
    }

    private void drain() throws IOException {
        ship();
        // Waits for the checkpoint that is being made, however slow the line is.
        checkpointing.lock();
        try {
            if (!isTaken && isCheckpointDue(CLOSING_PART)) {
                checkpointToStore();
            }
        } catch (IOException e) {
            // The log has everything.
            log.warn("no checkpoint of the metadata was put into the object store: {}", e.toString());
        } finally {
            checkpointing.unlock();
        }
    }
}
