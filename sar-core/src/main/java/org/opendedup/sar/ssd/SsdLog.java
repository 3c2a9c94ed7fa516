package org.opendedup.sar.ssd;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.Output;

/**
 * The SSD log: appends records to its head segment. It gains space by deleting segments without live records, and by
 * cleaning sparse ones, whose live records it copies to the head (Rosenblum and Ousterhout, "The Design and
 * Implementation of a Log-Structured File System", SOSP '91, §3). Used by the writing thread, except {@link #limits},
 * {@link #setCapacity} and the figures.
 *
 * <p>Writes are not forced to the disk: a copy lost in a power failure is detected when it is read.
 */
final class SsdLog {
    /**
     * Limit of the bytes copied before one batch is written, so that a batch does not wait long: a tenth of a second of
     * an SSD.
     */
    private static final long CLEANED_BYTES_PER_BATCH = 32 << 20;
    /** Live share of a segment from which it is not cleaned: copying it gains almost nothing. */
    private static final double MAX_CLEANED_SHARE = 0.95;
    /** Time, in nanoseconds, after which a disk that was full is tried with one more segment. */
    private static final long FULL_RETRY_NANOS = 60_000_000_000L;

    private final Segments segments;
    private final MapTable table;
    private final MapKeeper keeper;
    private final Runnable makeRoom;
    private final int maxEntries;
    private final Consumer<IOException> failure;
    private final LogCounters counters;
    private final SegmentCleaner cleaner;
    private final RecordBatch copies = new RecordBatch();
    private final MapEntry entry = new MapEntry();
    private final SecureRandom salts = new SecureRandom();

    private @Nullable Output output;
    private @Nullable SegmentFile head;

    private volatile long capacityBytes;
    private volatile long databaseBytes;
    private volatile long databaseWrittenBytes;
    /** Bytes of segment files at which the disk was found full, if that is less than the capacity. */
    private volatile long fullBytes = Long.MAX_VALUE;

    private long fullNanos;

    SsdLog(
            Segments segments,
            MapTable table,
            MapKeeper keeper,
            long capacityBytes,
            int maxEntries,
            Runnable makeRoom,
            Consumer<IOException> failure,
            LogCounters counters) {
        this.segments = segments;
        this.table = table;
        this.keeper = keeper;
        this.capacityBytes = capacityBytes;
        this.maxEntries = maxEntries;
        this.makeRoom = makeRoom;
        this.failure = failure;
        this.counters = counters;
        cleaner = new SegmentCleaner(table);
    }

    void setCapacity(long bytes) {
        capacityBytes = bytes;
        fullBytes = Long.MAX_VALUE;
    }

    SpaceLimits limits() {
        return new SpaceLimits(capacityBytes, databaseBytes, fullBytes);
    }

    long databaseBytes() {
        return databaseBytes;
    }

    /** Returns the bytes that the database has written since the SSD was opened, as last measured. */
    long databaseWrittenBytes() {
        return databaseWrittenBytes;
    }

    /** Measures the database. */
    void measure() throws IOException {
        databaseWrittenBytes = keeper.writtenBytes();
        databaseBytes = keeper.bytes();
    }

    /**
     * Deletes dead segments, demotes and cleans, until this many bytes may be appended; returns false if they may not.
     */
    boolean makeRoomFor(long bytes) throws IOException {
        retryFullDisk();
        deleteDead();
        if (isCrowded()) {
            makeRoom.run();
            deleteDead();
        }
        return !isCrowded() && cleanUntilFree(bytes);
    }

    private boolean isCrowded() {
        return segments.liveBytes() > limits().liveBytes() || table.size() > maxEntries;
    }

    private boolean cleanUntilFree(long bytes) throws IOException {
        long limit = limits().appendBytes();
        long budget = CLEANED_BYTES_PER_BATCH;
        while (segments.bytes() + bytes > limit) {
            if (budget < 0 || !clean()) {
                return false;
            }
            budget -= copies.used();
        }
        return true;
    }

    private void retryFullDisk() {
        if (fullBytes != Long.MAX_VALUE && System.nanoTime() - fullNanos > FULL_RETRY_NANOS) {
            long more = fullBytes + limits().segmentBytes();
            fullBytes = more < capacityBytes ? more : Long.MAX_VALUE;
            fullNanos = System.nanoTime();
        }
    }

    private void deleteDead() throws IOException {
        for (int number = 0; number < PackedEntry.SEGMENTS; number++) {
            SegmentFile segment = segments.get(number);
            if (segment != null && segment != head && segments.live(number) == 0) {
                delete(segment);
            }
        }
    }

    private void delete(SegmentFile segment) throws IOException {
        if (segment == cleaner.victim()) {
            cleaner.finish();
            counters.cleanedSegments.increment();
        }
        segments.delete(segment);
        counters.reclaimedSegments.increment();
    }

    /** Cleans one window; returns false if there is nothing worth cleaning. */
    private boolean clean() throws IOException {
        copies.clear();
        SegmentFile victim = cleaner.victim();
        if (victim == null) {
            victim = sparsest();
            if (victim == null) {
                return false;
            }
            cleaner.start(victim);
        }
        if (!cleaner.isDone()) {
            copyWindow(victim);
        }
        if (cleaner.isDone()) {
            if (segments.live(victim.number()) != 0) {
                // An append failed meanwhile; the segment is cleaned another time.
                cleaner.finish();
                return false;
            }
            delete(victim);
        }
        return true;
    }

    private @Nullable SegmentFile sparsest() {
        SegmentFile sparsest = null;
        double least = MAX_CLEANED_SHARE;
        for (int number = 0; number < PackedEntry.SEGMENTS; number++) {
            SegmentFile segment = segments.get(number);
            if (segment != null && segment != head) {
                double share = (double) segments.live(number) / segment.length();
                if (share < least) {
                    least = share;
                    sparsest = segment;
                }
            }
        }
        return sparsest;
    }

    private void copyWindow(SegmentFile victim) throws IOException {
        try {
            counters.badRecords.add(cleaner.takeWindow(victim, copies));
        } catch (IOException e) {
            counters.readFailures.increment();
            failure.accept(e);
            return;
        }
        append(copies, victim);
        counters.cleaningBytes.add(copies.used());
    }

    /** Appends new records, and then adds their entries to the Map table. */
    void append(RecordBatch batch) throws IOException {
        append(batch, null);
    }

    private void append(RecordBatch batch, @Nullable SegmentFile from) throws IOException {
        try {
            for (int i = 0; i < batch.count(); ) {
                Output open = output;
                int end = open == null ? i : fitting(batch, i, limits().segmentBytes() - open.position());
                if (open == null || end == i) {
                    startSegment();
                } else {
                    write(batch, i, end, open, from);
                    i = end;
                }
            }
        } catch (NoSpaceException e) {
            fullBytes = segments.bytes();
            fullNanos = System.nanoTime();
            throw e;
        }
    }

    private static int fitting(RecordBatch batch, int from, long room) {
        int end = from;
        while (end < batch.count() && batch.offset(end + 1) - batch.offset(from) <= room) {
            end++;
        }
        return end;
    }

    private void write(RecordBatch batch, int from, int to, Output open, @Nullable SegmentFile source)
            throws IOException {
        SegmentFile segment = Objects.requireNonNull(head);
        int start = batch.offset(from);
        long at = open.position();
        for (int i = from; i < to; i++) {
            segment.seal()
                    .complete(batch.bytes(), batch.offset(i), at + batch.offset(i) - start, saving(batch, i, source));
        }
        try {
            open.append(ByteBuffer.wrap(batch.bytes(), start, batch.offset(to) - start));
        } catch (IOException e) {
            // No entry points to what was written of it; the next records are written to another file.
            segments.grown(segment, open.position());
            closeHead();
            throw e;
        }
        segments.grown(segment, open.position());
        for (int i = from; i < to; i++) {
            place(batch, i, segment.number(), (int) at + batch.offset(i) - start, source);
        }
    }

    /** Returns the saving of a record; for a copy, the current value in the table. */
    private int saving(RecordBatch batch, int i, @Nullable SegmentFile source) {
        if (source == null) {
            return batch.saving(i);
        }
        return table.get(batch.chunkId(i), entry) ? entry.saving : 0;
    }

    private void place(RecordBatch batch, int i, int segment, int offset, @Nullable SegmentFile source)
            throws IOException {
        entry.chunkId = batch.chunkId(i);
        entry.segment = segment;
        entry.offset = offset;
        entry.length = batch.length(i);
        entry.count = batch.references(i);
        entry.saving = batch.saving(i);
        entry.heat = MapEntry.NEW_HEAT;
        if (source == null) {
            table.put(entry);
            batch.notePlaced();
            keeper.put(entry);
        } else if (table.moveIfAt(source.number(), batch.fromOffset(i), entry)) {
            keeper.put(entry);
        }
    }

    /** Removes a chunk's entry, if there is one: the chunk was withdrawn while on its way. */
    void remove(long chunkId) {
        table.remove(chunkId, entry);
    }

    private void startSegment() throws IOException {
        closeHead();
        int number = segments.freeNumber();
        String name = SegmentFile.name(number);
        Output created = segments.directory().create(name);
        try {
            created.append(segments.header(number, salts.nextLong()));
            head = segments.openNew(number);
            output = created;
        } catch (IOException e) {
            created.close();
            segments.directory().delete(name);
            throw e;
        }
    }

    private void closeHead() throws IOException {
        Output open = output;
        output = null;
        head = null;
        if (open != null) {
            open.close();
        }
    }

    /** Does the work that must not wait for the next offer: reaches a smaller capacity, deletes dead segments. */
    void tidy() throws IOException {
        makeRoomFor(0);
    }

    void close() throws IOException {
        closeHead();
    }
}
