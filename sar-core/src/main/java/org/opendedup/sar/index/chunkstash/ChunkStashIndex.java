package org.opendedup.sar.index.chunkstash;

import java.io.IOException;
import java.util.BitSet;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.Answer;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.IndexUse;
import org.opendedup.sar.io.Device;
import org.opendedup.sar.io.Directory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A chunk index in a log with a table in memory. Exact as long as the table has room for all entries. What it makes
 * durable is a prefix of its changes: a covered container has all of its fingerprints, because its pages precede the
 * record that covers it.
 */
public final class ChunkStashIndex implements ChunkIndex {
    private static final Logger log = LoggerFactory.getLogger(ChunkStashIndex.class);

    /** Segments shorter than an eighth that may stay: each mount begins one. */
    private static final int MOST_SHORT_SEGMENTS = 8;

    private static final int POOLED_LOOKUPS = 16;

    private final Directory directory;
    private final StashSettings settings;
    private final StashLimits limits;
    private final StashDisk disk;
    /** Read lock: the log is in use. Write lock: segments are deleted, or the index is closed. Taken first. */
    private final ReadWriteLock lifecycle = new ReentrantReadWriteLock();
    /** Guards the state. */
    private final Object lock = new Object();

    /** Held while a segment is moved or recycled. Taken before the others. */
    private final Lock moving = new ReentrantLock();

    private final StashCounters counters = new StashCounters();
    private long generation;
    private volatile StashState state;
    private StashSpace space;
    private StashWriter writer;
    private BlockingQueue<StashLookup> lookups = new ArrayBlockingQueue<>(POOLED_LOOKUPS);
    private final Runnable released;
    private boolean closed;
    /** Number of moves when the index was opened. */
    private final long openedMoves;

    /** Whether a failed move was logged. */
    private boolean saidThatItIsFull;

    ChunkStashIndex(
            Directory directory,
            StashSettings settings,
            StashLimits limits,
            StashDisk disk,
            long generation,
            StashState state,
            Runnable released) {
        this.released = released;
        this.directory = directory;
        this.settings = settings;
        this.limits = limits;
        this.disk = disk;
        this.generation = generation;
        this.state = state;
        openedMoves = state.moves;
        space = new StashSpace(limits.space(), directory, state);
        writer = new StashWriter(state, space);
        space.report();
    }

    static StashState newState(Directory directory, StashSettings settings, long generation) {
        StashLog records = new StashLog(directory, generation, settings.segmentBytes());
        return new StashState(records, settings);
    }

    /** Runs an action while the log is open; notes damage that it meets. */
    private <T> T use(Lock held, Answer<T> action) throws IOException {
        held.lock();
        try {
            if (closed) {
                throw new IOException("the fingerprint index in " + directory + " is closed");
            }
            return action.get();
        } catch (CorruptionException e) {
            StashFiles.mark(directory);
            throw e;
        } finally {
            held.unlock();
        }
    }

    private void change(Closing.Step change) throws IOException {
        use(lifecycle.readLock(), () -> {
            synchronized (lock) {
                change.run();
                space.report();
            }
            return lock;
        });
    }

    /** Makes a change that needs space: moves old segments to the disk until it succeeds. It may be repeated. */
    private void changeWithRoom(Closing.Step change) throws IOException {
        while (true) {
            long moves = state.moves;
            try {
                change(change);
                break;
            } catch (IOException e) {
                if (!Device.isFull(e) || !moveOldest(moves)) {
                    throw e;
                }
            }
        }
        try {
            long moves = state.moves;
            while (ask(space::isFull) && moveOldest(moves)) {
                moves = state.moves;
            }
        } catch (IOException e) {
            if (!Device.isFull(e)) {
                throw e;
            }
            if (!saidThatItIsFull) {
                saidThatItIsFull = true;
                log.warn("no part of the fingerprint index in {} can be moved to the disk", directory, e);
            }
        }
    }

    private <T> T ask(Answer<T> question) throws IOException {
        return use(lifecycle.readLock(), () -> {
            synchronized (lock) {
                return question.get();
            }
        });
    }

    @Override
    public Exactness exactness() {
        synchronized (lock) {
            return state.interval() == 1 ? Exactness.EXACT : Exactness.NEAR_EXACT;
        }
    }

    @Override
    public void lookup(Segment segment) throws IOException {
        use(lifecycle.readLock(), () -> {
            StashLookup pooled = lookups.poll();
            StashLookup lookup = pooled == null ? new StashLookup(state, counters, lock) : pooled;
            lookup.run(segment);
            lookups.offer(lookup);
            disk.lookup(segment);
            return segment;
        });
    }

    @Override
    public void insert(Segment segment) throws IOException {
        // Goes on where it was: what was inserted before may be on the disk when it is repeated.
        int[] next = {0};
        changeWithRoom(() -> {
            for (; next[0] < segment.count(); next[0]++) {
                int i = next[0];
                if (segment.isFresh(i)) {
                    writer.insert(segment.fingerprints(), Segment.fingerprintOffset(i), segment.chunkId(i));
                }
            }
        });
    }

    @Override
    public void insert(byte[] fingerprints, int offset, long chunkId) throws IOException {
        changeWithRoom(() -> writer.insert(fingerprints, offset, chunkId));
    }

    @Override
    public void remove(long container, byte[] fingerprints, BitSet slots) throws IOException {
        changeWithRoom(() -> {
            BitSet leading = new BitSet();
            try {
                writer.remove(container, fingerprints, slots, leading);
            } finally {
                disk.forget(fingerprints, leading);
            }
        });
        use(lifecycle.readLock(), () -> {
            disk.remove(container, fingerprints, slots);
            return disk;
        });
        recycle();
    }

    @Override
    public byte @Nullable [] forEachAfter(byte @Nullable [] position, int count, EntryVisitor visitor)
            throws IOException {
        return ask(() -> Optional.ofNullable(new StashWalk(state, disk).after(position, count, visitor)))
                .orElse(null);
    }

    @Override
    public void sample(RandomGenerator random, EntryVisitor visitor) throws IOException {
        change(() -> new StashWalk(state, disk).sample(random, visitor));
    }

    @Override
    public void cover(long container, byte[] frameTable) throws IOException {
        changeWithRoom(() -> writer.cover(container, frameTable));
        recycle();
    }

    @Override
    public void uncover(long container) throws IOException {
        changeWithRoom(() -> writer.uncover(container));
        use(lifecycle.readLock(), () -> {
            disk.uncover(container);
            return disk;
        });
    }

    @Override
    public byte @Nullable [] frameTable(long container) throws IOException {
        return use(lifecycle.readLock(), () -> {
                    synchronized (lock) {
                        int number = state.covers.find(container);
                        if (number >= 0) {
                            return Optional.of(StashRecords.frameTable(
                                    state.records.read(state.covers.place(number), state.covers.length(number))));
                        }
                    }
                    return Optional.ofNullable(disk.frameTable(container));
                })
                .orElse(null);
    }

    @Override
    public void forEachOf(long container, SlotVisitor visitor) throws IOException {
        use(lifecycle.readLock(), () -> {
            synchronized (lock) {
                for (int page : writer.pagesOf(container)) {
                    new StashWalk(state, disk).forEachKept(page, visitor);
                }
            }
            disk.forEachOf(container, visitor);
            return disk;
        });
    }

    @Override
    public @Nullable Epoch epoch() throws IOException {
        return ask(() -> Optional.ofNullable(state.epoch)).orElse(null);
    }

    @Override
    public void stamp(Epoch epoch) throws IOException {
        change(() -> writer.stamp(epoch));
    }

    @Override
    public long highestContainer() throws IOException {
        return ask(() -> state.highestContainer);
    }

    /** Begins a log of another generation; what a crash leaves of the old one is deleted by the next clearing. */
    @Override
    public void clear() throws IOException {
        use(lifecycle.writeLock(), () -> {
            state.records.close();
            generation = ThreadLocalRandom.current().nextLong();
            StashFiles.writeIdentity(directory, generation);
            StashFiles.deleteLog(directory);
            disk.clear(generation);
            state = newState(directory, settings, generation);
            state.buildTable();
            space = new StashSpace(limits.space(), directory, state);
            writer = new StashWriter(state, space);
            lookups = new ArrayBlockingQueue<>(POOLED_LOOKUPS);
            return state;
        });
    }

    @Override
    public void flush() throws IOException {
        change(() -> {
            writer.writeOpen();
            state.records.force();
        });
    }

    /** Recycles a segment of the log, if one has little in use. Lookups wait for it: at most for half a segment. */
    private void recycle() throws IOException {
        if (ask(() -> space.victim(MOST_SHORT_SEGMENTS)) == 0) {
            return;
        }
        moving.lock();
        try {
            use(lifecycle.writeLock(), () -> {
                int victim = space.victim(MOST_SHORT_SEGMENTS);
                if (victim != 0) {
                    writer.writeOpen();
                    writer.evacuate(victim);
                    // From now on an opening does not need the segment, nor what its records say of older ones.
                    Checkpoint.write(directory, generation, state, false, victim);
                    state.records.delete(victim);
                    space.report();
                }
                return victim;
            });
        } finally {
            moving.unlock();
        }
    }

    /**
     * Moves the oldest segment of the log to the disk index. Lookups and changes go on while it is copied, and wait for
     * the end of it.
     *
     * @param moves number of moves when there was no room
     * @return false if there is no disk index, or nothing to move; true also if another thread moved one meanwhile
     */
    private boolean moveOldest(long moves) throws IOException {
        if (!disk.canBeMade()) {
            return false;
        }
        moving.lock();
        try {
            if (state.moves != moves) {
                return true;
            }
            int oldest = ask(() -> {
                if (state.records.isEmpty()) {
                    writer.writeOpen();
                }
                return state.records.oldest();
            });
            if (oldest == 0) {
                return false;
            }
            SegmentMove move = use(lifecycle.readLock(), () -> {
                SegmentMove copying = new SegmentMove(state, lock, disk.made(generation), oldest);
                copying.copy();
                return copying;
            });
            use(lifecycle.writeLock(), () -> {
                finish(move);
                return move;
            });
            return true;
        } finally {
            moving.unlock();
        }
    }

    /** Frees a segment that was copied. Whatever fails here, each page of it is in the log or on the disk durably. */
    private void finish(SegmentMove move) throws IOException {
        if (state.moves == openedMoves) {
            // The table on the SSD is of no use until the index is closed, which writes a new one. There may be no room
            // for what follows.
            StashFiles.deleteIfPresent(directory, StashFiles.TABLE);
        }
        writer.writeOpen();
        state.records.force();
        move.reconcile();
        disk.made(generation).settle(state.moves + 1);
        state.moves++;
        Checkpoint.write(directory, generation, state, false, move.segment());
        state.forget(move.segment());
        state.records.delete(move.segment());
        space.moved();
        space.report();
    }

    @Override
    public long estimatedChunks() {
        synchronized (lock) {
            return state.live() + disk.use().chunks();
        }
    }

    @Override
    public IndexUse use() {
        synchronized (lock) {
            return new IndexUse(
                    state.records.length(), disk.use(), limits.space().share());
        }
    }

    /** What the index has done and holds. */
    public StashStatistics statistics() throws IOException {
        return ask(() -> StashStatistics.of(state, counters));
    }

    private void closeDisk() {
        try {
            disk.close();
        } catch (IOException e) {
            log.warn("the disk index of {} could not be saved: {}", directory, e.getMessage());
        }
    }

    /**
     * Writes all that is in memory, so that the next opening reads only the table. If that fails, the next opening
     * finds what a crash would have left.
     */
    @Override
    public void close() throws IOException {
        lifecycle.writeLock().lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            try {
                writer.writeOpen();
                // Not beside the old one: there may be no room for both.
                StashFiles.deleteIfPresent(directory, StashFiles.TABLE);
                Checkpoint.write(directory, generation, state, space.hasRoom(0), 0);
            } catch (IOException e) {
                log.warn("the end of the fingerprint index in {} could not be saved: {}", directory, e.getMessage());
            } finally {
                state.records.close();
                closeDisk();
                limits.space().used(0);
                released.run();
            }
        } finally {
            lifecycle.writeLock().unlock();
        }
    }
}
