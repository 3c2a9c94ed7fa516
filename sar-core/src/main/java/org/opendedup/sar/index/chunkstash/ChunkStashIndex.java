package org.opendedup.sar.index.chunkstash;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongConsumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.index.ChunkIndex;
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
    private static final int POSITION_BYTES = Long.BYTES;

    private final Directory directory;
    private final StashSettings settings;
    /** Read lock: the log is in use. Write lock: segments are deleted, or the index is closed. Taken first. */
    private final ReadWriteLock lifecycle = new ReentrantReadWriteLock();
    /** Guards the state. */
    private final Object lock = new Object();

    private final StashCounters counters = new StashCounters();
    private long generation;
    private volatile StashState state;
    private StashWriter writer;
    private BlockingQueue<StashLookup> lookups = new ArrayBlockingQueue<>(POOLED_LOOKUPS);
    private final Runnable released;
    private boolean closed;

    private ChunkStashIndex(
            Directory directory, StashSettings settings, long generation, StashState state, Runnable released) {
        this.released = released;
        this.directory = directory;
        this.settings = settings;
        this.generation = generation;
        this.state = state;
        writer = new StashWriter(state);
    }

    /**
     * Opens the index in a directory, or makes one.
     *
     * @param released called when the index is closed
     * @throws CorruptionException if it is damaged
     * @throws org.opendedup.sar.common.UnsupportedFormatException if a newer program wrote it
     */
    static ChunkStashIndex open(Directory directory, StashSettings settings, Runnable released) throws IOException {
        if (directory.exists(StashFiles.DAMAGED)) {
            throw new CorruptionException(directory.toString(), -1, "a sound index", "one with damage");
        }
        long generation;
        if (directory.exists(StashFiles.IDENTITY)) {
            generation = StashFiles.readIdentity(directory);
        } else {
            requireNoLog(directory);
            generation = ThreadLocalRandom.current().nextLong();
            StashFiles.writeIdentity(directory, generation);
        }
        StashState state = newState(directory, settings, generation);
        try {
            Checkpoint.read(directory, generation, state);
        } catch (IOException | RuntimeException e) {
            state.records.close();
            throw e;
        }
        return new ChunkStashIndex(directory, settings, generation, state, released);
    }

    private static void requireNoLog(Directory directory) throws IOException {
        for (String name : directory.list()) {
            if (name.startsWith(StashLog.PREFIX)) {
                throw new CorruptionException(
                        directory.toString(), -1, "the file " + StashFiles.IDENTITY, "a log without it");
            }
        }
    }

    private static StashState newState(Directory directory, StashSettings settings, long generation) {
        StashLog records = new StashLog(directory, generation, settings.segmentBytes());
        return new StashState(records, settings);
    }

    /** Something that is done with the state. */
    @FunctionalInterface
    private interface Action<T> {
        T run() throws IOException;
    }

    @FunctionalInterface
    private interface Change {
        void run() throws IOException;
    }

    /** Runs an action while the log is open; notes damage that it meets. */
    private <T> T use(Lock held, Action<T> action) throws IOException {
        held.lock();
        try {
            if (closed) {
                throw new IOException("the fingerprint index in " + directory + " is closed");
            }
            return action.run();
        } catch (CorruptionException e) {
            mark();
            throw e;
        } finally {
            held.unlock();
        }
    }

    private void change(Change change) throws IOException {
        use(lifecycle.readLock(), () -> {
            synchronized (lock) {
                change.run();
            }
            return lock;
        });
    }

    private <T> T ask(Action<T> question) throws IOException {
        return use(lifecycle.readLock(), () -> {
            synchronized (lock) {
                return question.run();
            }
        });
    }

    private void mark() {
        try {
            if (!directory.exists(StashFiles.DAMAGED)) {
                directory.create(StashFiles.DAMAGED).close();
                directory.sync();
            }
        } catch (IOException e) {
            log.warn("damage of the fingerprint index in {} could not be marked: {}", directory, e.getMessage());
        }
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
            return segment;
        });
    }

    @Override
    public void insert(Segment segment) throws IOException {
        change(() -> {
            for (int i = 0; i < segment.count(); i++) {
                if (segment.isFresh(i)) {
                    writer.insert(segment.fingerprints(), Segment.fingerprintOffset(i), segment.chunkId(i));
                }
            }
        });
    }

    @Override
    public void insert(byte[] fingerprints, int offset, long chunkId) throws IOException {
        change(() -> writer.insert(fingerprints, offset, chunkId));
    }

    @Override
    public void remove(long container, byte[] fingerprints, BitSet slots) throws IOException {
        change(() -> writer.remove(container, fingerprints, slots));
        recycle();
    }

    @Override
    public byte @Nullable [] forEachAfter(byte @Nullable [] position, int count, EntryVisitor visitor)
            throws IOException {
        long from = position == null
                ? PageDirectory.pointer(1, 0)
                : ByteBuffer.wrap(position).getLong();
        long next = ask(() -> new StashWalk(state).run(from, count, visitor));
        return next == 0
                ? null
                : ByteBuffer.allocate(POSITION_BYTES).putLong(next).array();
    }

    @Override
    public void sample(RandomGenerator random, EntryVisitor visitor) throws IOException {
        change(() -> new StashWalk(state).sample(random, visitor));
    }

    @Override
    public void cover(long container, byte[] frameTable) throws IOException {
        change(() -> writer.cover(container, frameTable));
        recycle();
    }

    @Override
    public void uncover(long container) throws IOException {
        change(() -> writer.uncover(container));
    }

    @Override
    public byte @Nullable [] frameTable(long container) throws IOException {
        return ask(() -> {
                    int number = state.covers.find(container);
                    if (number < 0) {
                        return Optional.<byte[]>empty();
                    }
                    return Optional.of(StashRecords.frameTable(
                            state.records.read(state.covers.place(number), state.covers.length(number))));
                })
                .orElse(null);
    }

    @Override
    public void forEachOf(long container, SlotVisitor visitor) throws IOException {
        change(() -> {
            for (int page : writer.pagesOf(container)) {
                new StashWalk(state).forEachKept(page, visitor);
            }
        });
    }

    @Override
    public void forEachCovered(LongConsumer visitor) throws IOException {
        for (long container : ask(() -> state.covers.containers())) {
            visitor.accept(container);
        }
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
            deleteOldLogs();
            state = newState(directory, settings, generation);
            state.buildTable();
            writer = new StashWriter(state);
            lookups = new ArrayBlockingQueue<>(POOLED_LOOKUPS);
            return state;
        });
    }

    private void deleteOldLogs() throws IOException {
        for (String name : directory.list()) {
            if (name.startsWith(StashLog.PREFIX)) {
                directory.delete(name);
            }
        }
        StashFiles.deleteIfPresent(directory, StashFiles.CHECKPOINT);
        StashFiles.deleteIfPresent(directory, StashFiles.TABLE);
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
        if (ask(() -> state.records.victim(MOST_SHORT_SEGMENTS)) != 0) {
            use(lifecycle.writeLock(), () -> {
                int victim = state.records.victim(MOST_SHORT_SEGMENTS);
                if (victim != 0) {
                    writer.writeOpen();
                    writer.evacuate(victim);
                    // From now on an opening does not need the segment, nor what its records say of older ones.
                    Checkpoint.write(directory, generation, state, false, victim);
                    state.records.delete(victim);
                }
                return victim;
            });
        }
    }

    @Override
    public long estimatedChunks() {
        synchronized (lock) {
            return state.live();
        }
    }

    /**
     * What the index has done and holds; for measurements and tests.
     *
     * @param reads reads of the log by lookups
     * @param readBytes bytes of these
     * @param falseReads those of entries whose signature matched and whose fingerprint did not
     * @param relocations entries of the table that insertions moved
     * @param auxiliary entries of the table that found no slot
     * @param tableEntries entries of the table
     * @param tableBytes memory of the table
     * @param frameBytes memory of the pages in memory
     * @param logBytes length of the log
     * @param appendedBytes bytes that were appended to it since it was opened
     * @param interval entries of a page for each one in the table
     */
    public record Statistics(
            long reads,
            long readBytes,
            long falseReads,
            long relocations,
            int auxiliary,
            long tableEntries,
            long tableBytes,
            long frameBytes,
            long logBytes,
            long appendedBytes,
            int interval) {}

    public Statistics statistics() throws IOException {
        return ask(() -> new Statistics(
                counters.reads(),
                counters.readBytes(),
                counters.falseReads(),
                state.table().relocations(),
                state.table().auxiliarySize(),
                state.table().size(),
                state.table().memoryBytes(),
                state.frames.memoryBytes(),
                state.records.length(),
                state.records.appendedBytes(),
                state.interval()));
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
                Checkpoint.write(directory, generation, state, true, 0);
            } catch (IOException e) {
                log.warn("the end of the fingerprint index in {} could not be saved: {}", directory, e.getMessage());
            } finally {
                state.records.close();
                released.run();
            }
        } finally {
            lifecycle.writeLock().unlock();
        }
    }
}
