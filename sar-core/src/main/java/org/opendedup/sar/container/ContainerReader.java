package org.opendedup.sar.container;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.container.format.Compressor;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameDecoder;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.LocatedTable;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileLayout;
import org.opendedup.sar.io.Input;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads containers from their packs: frame tables, directories, frames. Does not see frames still in memory. */
final class ContainerReader implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(ContainerReader.class);

    private static final int MAX_INPUTS = 256;
    /**
     * Largest coalesced read, in bytes: a whole container of a volume. At 150 MB/s it lasts 28 ms, a few times the seek
     * that it saves.
     */
    private static final int MAX_REQUEST_BYTES = ContainerSize.MAX_FILE_BYTES;
    /** Number of frames in one decoding task: few, so that all workers are busy as soon as a read is done. */
    private static final int DECODED_AT_ONCE = 8;
    /** Size of the buffer for unwanted bytes between wanted frames, in bytes. */
    private static final int SCRATCH_BYTES = 64 << 10;
    /** Bound on pooled read buffers, in bytes: one of the largest size for each of four readers. */
    private static final int POOLED_BYTES = 4 * MAX_REQUEST_BYTES;

    /** The container table, with the changes that are not committed yet. */
    @FunctionalInterface
    interface Entries {
        @Nullable
        StoredContainer entry(long container) throws IOException;
    }

    private final Directory directory;
    private final Compressor compressor;
    private final FrameTableSource tables;
    private final Entries entries;
    private final FrameTableCache tableCache;
    private final InputCache inputs;
    private final BufferPool buffers = new BufferPool(POOLED_BYTES);
    private final ReadStatistics statistics = new ReadStatistics();

    ContainerReader(
            Directory directory,
            Compressor compressor,
            FrameTableSource tables,
            Entries entries,
            long tableCacheBytes) {
        this.directory = directory;
        this.compressor = compressor;
        this.tables = tables;
        this.entries = entries;
        this.tableCache = new FrameTableCache(tableCacheBytes);
        this.inputs = new InputCache(MAX_INPUTS, this::open);
    }

    ReadStatistics statistics() {
        return statistics;
    }

    private Input open(long pack) throws IOException {
        return directory.open(PackFormat.fileName(pack));
    }

    /**
     * Returns the frame table of a sealed container with its place: from the cache, the source, or the pack.
     *
     * @throws CorruptionException if there is no such container, or other bytes are in its place
     */
    LocatedTable located(long container) throws IOException {
        LocatedTable cached = tableCache.get(container);
        if (cached != null) {
            return cached;
        }
        StoredContainer stored = sealed(container);
        FrameTable table = keptTable(container, stored.writing());
        if (table == null) {
            table = storedTable(container, stored);
        }
        LocatedTable located = new LocatedTable(stored.pack(), stored.offset(), table);
        tableCache.put(container, located);
        return located;
    }

    private StoredContainer sealed(long container) throws IOException {
        StoredContainer stored = entries.entry(container);
        if (stored == null) {
            throw new CorruptionException("container " + container, -1, "an entry in the container table", "none");
        }
        if (stored.state() != StoredContainer.State.SEALED) {
            throw new CorruptionException(
                    placeOf(container, stored), stored.offset(), "a sealed container", "one that a crash left open");
        }
        return stored;
    }

    private String placeOf(long container, StoredContainer stored) {
        return "container " + container + " (" + directory + "/" + PackFormat.fileName(stored.pack()) + " from byte "
                + stored.offset() + ")";
    }

    @Nullable
    LocatedTable cached(long container) {
        return tableCache.get(container);
    }

    void cache(long container, LocatedTable located) {
        tableCache.put(container, located);
    }

    /**
     * Returns the source's copy of the table of that writing, or null. A damaged copy, or one of another writing, is
     * not a loss: the container has its own table.
     */
    private @Nullable FrameTable keptTable(long container, Writing writing) throws IOException {
        try {
            byte[] bytes = tables.frameTable(container);
            FrameTable kept =
                    bytes == null ? null : FrameTable.decodeWithSalt(bytes, "frame table of container " + container);
            return kept == null || !kept.writing().equals(writing) ? null : kept;
        } catch (IOException unusableCopy) {
            log.warn("{}; taken from container {} itself", unusableCopy.getMessage(), container);
            return null;
        }
    }

    private FrameTable storedTable(long container, StoredContainer stored) throws IOException {
        return reading(container, stored, reader -> checked(container, stored, reader.frameTable()));
    }

    private FrameTable checked(long container, StoredContainer stored, FrameTable table) throws CorruptionException {
        if (!table.writing().equals(stored.writing())) {
            throw new CorruptionException(
                    placeOf(container, stored),
                    stored.offset(),
                    "the container that files refer to (" + stored.writing() + ")",
                    "another of the same id (" + table.writing() + "), from a backup or another history");
        }
        return table;
    }

    /** Reads the directory of a sealed container and checks header and footer as well. */
    SealedContainer directory(long container) throws IOException {
        StoredContainer stored = sealed(container);
        return reading(container, stored, reader -> {
            SealedContainer found = reader.directory();
            checked(container, stored, found.frameTable());
            return found;
        });
    }

    private interface Reading<T> {
        T run(DirectoryReader reader) throws IOException;
    }

    private <T> T reading(long container, StoredContainer stored, Reading<T> reading) throws IOException {
        String place = placeOf(container, stored);
        try (InputCache.Lease lease = inputs.acquire(stored.pack())) {
            SlicedInput bytes = new SlicedInput(lease.input(), stored.offset(), stored.bytes());
            return reading.run(new DirectoryReader(bytes, container, place, statistics));
        } catch (NoSuchFileException e) {
            CorruptionException missing = new CorruptionException(place, -1, "a file", "none");
            missing.initCause(e);
            throw missing;
        }
    }

    /** Returns where a sealed container lies on its device. */
    FileLayout layout(long container) throws IOException {
        LocatedTable at = located(container);
        long end = at.table().frames() == 0 ? at.offset() : at.end(at.table().frames() - 1);
        try (InputCache.Lease lease = inputs.acquire(at.pack())) {
            return lease.input().layout(at.offset(), end - at.offset());
        }
    }

    /** Reads and decodes one frame. */
    Frame frame(long container, LocatedTable at, int frame, boolean verifyFingerprints) throws IOException {
        byte[] buffer = buffers.take(at.table().fileLength(frame));
        try (InputCache.Lease lease = inputs.acquire(at.pack())) {
            statistics.add(readRange(container, at, frame, frame, lease.input(), buffer, 0));
            return decode(container, at, frame, buffer, 0, verifyFingerprints);
        } finally {
            buffers.giveBack(buffer);
        }
    }

    private Frame decode(
            long container, LocatedTable at, int frame, byte[] buffer, int offset, boolean verifyFingerprints)
            throws CorruptionException {
        return FrameDecoder.decode(
                buffer, offset, new FrameDecoder.Expected(container, at, frame), compressor, verifyFingerprints);
    }

    /**
     * Reads from the start of one frame to the end of another into {@code buffer} from {@code place} on; returns the
     * number of bytes. A file that is too short for it is damaged.
     */
    private static int readRange(
            long container, LocatedTable at, int from, int to, Input input, byte[] buffer, int place)
            throws IOException {
        long offset = at.start(from);
        int length = Math.toIntExact(at.end(to) - offset);
        try {
            input.readFully(offset, ByteBuffer.wrap(buffer, place, length));
            return length;
        } catch (EOFException e) {
            CorruptionException truncated = new FrameDecoder.Expected(container, at, from)
                    .corrupt(length + " bytes", "the end of the file after " + input.length() + " bytes");
            truncated.initCause(e);
            throw truncated;
        }
    }

    /** Reads frames, in ascending order, with as few requests as the longest gap and the largest request allow. */
    void frames(
            long container,
            LocatedTable at,
            int[] frames,
            int count,
            int maxGapBytes,
            FrameConsumer consumer,
            Decoding decoding) {
        int from = 0;
        while (from < count) {
            int to = from + 1;
            while (to < count && joins(at, frames[from], frames[to - 1], frames[to], maxGapBytes)) {
                to++;
            }
            readRun(container, at, Arrays.copyOfRange(frames, from, to), consumer, decoding);
            from = to;
        }
    }

    private static boolean joins(LocatedTable at, int first, int last, int next, int maxGapBytes) {
        long gap = at.start(next) - at.end(last);
        long request = at.end(next) - at.start(first);
        return gap <= maxGapBytes && request <= MAX_REQUEST_BYTES;
    }

    /**
     * Reads adjacent frames by one request and submits them for decoding. The gaps between them are not kept in memory.
     */
    private void readRun(long container, LocatedTable at, int[] frames, FrameConsumer consumer, Decoding decoding) {
        FrameTable table = at.table();
        int[] places = places(table, frames);
        int room = places[frames.length];
        decoding.awaitRoom(room);
        byte[] buffer = buffers.take(room);
        try (InputCache.Lease lease = inputs.acquire(at.pack())) {
            long startNanos = System.nanoTime();
            int bytes = readWanted(container, at, frames, lease.input(), buffer);
            consumer.requested(table.fileOffset(frames[0]), bytes, System.nanoTime() - startNanos);
        } catch (IOException e) {
            buffers.giveBack(buffer);
            decoding.noteFreed(room);
            readSingly(container, at, frames, consumer, e);
            return;
        }
        AtomicInteger pieces = new AtomicInteger((frames.length + DECODED_AT_ONCE - 1) / DECODED_AT_ONCE);
        for (int from = 0; from < frames.length; from += DECODED_AT_ONCE) {
            int first = from;
            int end = Math.min(frames.length, from + DECODED_AT_ONCE);
            decoding.submit(() -> {
                try {
                    for (int i = first; i < end; i++) {
                        deliver(container, at, frames[i], buffer, places[i], consumer);
                    }
                } finally {
                    if (pieces.decrementAndGet() == 0) {
                        buffers.giveBack(buffer);
                        decoding.noteFreed(room);
                    }
                }
            });
        }
    }

    /** Returns the offsets of frames in a buffer that holds them one after another, and as the last entry their end. */
    private static int[] places(FrameTable table, int[] frames) {
        int[] places = new int[frames.length + 1];
        for (int i = 0; i < frames.length; i++) {
            places[i + 1] = places[i] + table.fileLength(frames[i]);
        }
        return places;
    }

    /**
     * Reads from the start of the first frame to the end of the last, sequentially, which is one request for a disk.
     * Stores the frames in {@code buffer} one after another, and discards the bytes between them. Returns the number of
     * bytes read.
     */
    private int readWanted(long container, LocatedTable at, int[] frames, Input input, byte[] buffer)
            throws IOException {
        int filled = 0;
        for (int from = 0; from < frames.length; ) {
            int to = from;
            while (to + 1 < frames.length && at.start(frames[to + 1]) == at.end(frames[to])) {
                to++;
            }
            filled += readRange(container, at, frames[from], frames[to], input, buffer, filled);
            if (to + 1 < frames.length) {
                readThrough(input, at.end(frames[to]), at.start(frames[to + 1]));
            }
            from = to + 1;
        }
        int bytes = Math.toIntExact(at.end(frames[frames.length - 1]) - at.start(frames[0]));
        statistics.add(bytes);
        return bytes;
    }

    private void readThrough(Input input, long from, long to) throws IOException {
        byte[] scratch = buffers.take((int) Math.min(to - from, SCRATCH_BYTES));
        try {
            for (long at = from; at < to; at += SCRATCH_BYTES) {
                input.readFully(at, ByteBuffer.wrap(scratch, 0, (int) Math.min(to - at, SCRATCH_BYTES)));
            }
        } finally {
            buffers.giveBack(scratch);
        }
    }

    private void deliver(
            long container, LocatedTable at, int frame, byte[] buffer, int offset, FrameConsumer consumer) {
        Frame decoded;
        try {
            decoded = decode(container, at, frame, buffer, offset, consumer.verifiesFingerprints());
        } catch (IOException e) {
            consumer.damaged(frame, e);
            return;
        }
        consumer.frame(frame, decoded);
    }

    /**
     * Reads each frame with a separate request, so that a bad sector in one frame does not lose its neighbours. If
     * there is only one frame, reports it as damaged.
     */
    private void readSingly(
            long container, LocatedTable at, int[] frames, FrameConsumer consumer, IOException runFailure) {
        if (frames.length == 1) {
            consumer.damaged(frames[0], runFailure);
            return;
        }
        for (int number : frames) {
            Frame decoded;
            try {
                decoded = frame(container, at, number, consumer.verifiesFingerprints());
            } catch (IOException e) {
                consumer.damaged(number, e);
                continue;
            }
            consumer.frame(number, decoded);
        }
    }

    @Override
    public void close() throws IOException {
        inputs.close();
    }
}
