package org.opendedup.sar.container;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameDecoder;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.LocatedTable;
import org.opendedup.sar.io.FileLayout;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.TransferBuffers;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads frames wherever they are: from an open container's memory, or from a pack. What a method promises stands at
 * {@link ContainerStore}'s of the same name. Safe for use by many threads.
 *
 * <p>A container may be sealed while it is read. It is then looked for in memory first, and its frames are in its file
 * before it leaves memory.
 */
final class ContainerReader {
    private static final Logger log = LoggerFactory.getLogger(ContainerReader.class);

    /**
     * Largest coalesced read, in bytes: a whole container of a volume. At 150 MB/s it lasts 28 ms, a few times the seek
     * that it saves.
     */
    private static final int MAX_REQUEST_BYTES = ContainerSize.MAX_FILE_BYTES;

    /** Bytes at the end of a container that have its frame table, mostly. */
    private static final int DIRECTORY_BYTES = 64 << 10;
    /** Number of frames in one decoding task: few, so that all workers are busy as soon as a read is done. */
    private static final int DECODED_AT_ONCE = 8;
    /** Size of the buffer for unwanted bytes between wanted frames, in bytes. */
    private static final int SCRATCH_BYTES = 64 << 10;
    /**
     * Bound on pooled arrays, in bytes: a read buffer of the largest size for each of four readers. Arrays of lent
     * frames, one for each thread that decodes, are small beside them.
     */
    private static final int POOLED_BYTES = 4 * MAX_REQUEST_BYTES;

    private final FrameDecoder decoder;
    private final UnsealedContainers open;
    private final SealedContainers sealed;
    private final InputCache inputs;
    private final ReadStatistics statistics;
    private final BufferPool buffers = new BufferPool(POOLED_BYTES);

    /** @param sealed finds sealed containers; the files that it has open and its statistics are used here as well */
    ContainerReader(FrameDecoder decoder, UnsealedContainers open, SealedContainers sealed) {
        this.decoder = decoder;
        this.open = open;
        this.sealed = sealed;
        inputs = sealed.inputs();
        statistics = sealed.statistics();
    }

    Frame frame(long container, int frame, boolean verifyFingerprints) throws IOException {
        OpenFrames unsealed = open.frames(container);
        if (unsealed != null) {
            Frame inMemory = unsealed.frameInMemory(frame);
            if (inMemory != null) {
                return inMemory;
            }
        }
        LocatedTable at = located(container);
        checkFrame(container, at.table(), frame);
        return frame(container, at, frame, verifyFingerprints);
    }

    private static void checkFrame(long container, FrameTable table, int frame) {
        if (frame < 0 || frame >= table.frames()) {
            throw new IllegalArgumentException(
                    "container " + container + " has frames 0 to " + (table.frames() - 1) + ", not " + frame);
        }
    }

    void readFrames(long container, int[] frames, int count, int maxGapBytes, FrameConsumer consumer, Decoding decoding)
            throws IOException {
        OpenFrames unsealed = open.frames(container);
        if (unsealed == null) {
            readStoredFrames(container, frames, count, maxGapBytes, consumer, decoding);
            return;
        }
        int[] stored = new int[count];
        int storedCount = 0;
        for (int i = 0; i < count; i++) {
            Frame inMemory;
            try {
                inMemory = unsealed.frameInMemory(frames[i]);
            } catch (IOException e) {
                consumer.damaged(frames[i], e);
                continue;
            }
            if (inMemory == null) {
                stored[storedCount++] = frames[i];
            } else {
                consumer.frame(frames[i], inMemory);
            }
        }
        readStoredFrames(container, stored, storedCount, maxGapBytes, consumer, decoding);
    }

    private void readStoredFrames(
            long container, int[] frames, int count, int maxGapBytes, FrameConsumer consumer, Decoding decoding)
            throws IOException {
        if (count == 0) {
            return;
        }
        LocatedTable at = located(container);
        int[] present = new int[count];
        int presentCount = 0;
        for (int i = 0; i < count; i++) {
            checkFrame(container, at.table(), frames[i]);
            if (at.table().isRemoved(frames[i])) {
                consumer.damaged(frames[i], new FrameDecoder.Expected(container, at, frames[i]).removed());
            } else {
                present[presentCount++] = frames[i];
            }
        }
        frames(container, at, present, presentCount, maxGapBytes, consumer, decoding);
    }

    int frameOf(long chunkId) throws IOException {
        long container = ChunkId.container(chunkId);
        int slot = ChunkId.slot(chunkId);
        OpenFrames unsealed = open.frames(container);
        int frame = unsealed == null ? sealed.located(container).table().frameOf(slot) : unsealed.frameOf(slot);
        if (frame < 0) {
            throw new CorruptionException("container " + container, -1, "slot " + slot, "no such slot");
        }
        return frame;
    }

    int knownFrameOf(long chunkId) throws IOException {
        long container = ChunkId.container(chunkId);
        int slot = ChunkId.slot(chunkId);
        OpenFrames unsealed = open.frames(container);
        if (unsealed != null) {
            return unsealed.frameOf(slot);
        }
        LocatedTable cached = sealed.cached(container);
        return cached == null ? -1 : cached.table().frameOf(slot);
    }

    FileLayout layout(long container) {
        if (open.contains(container)) {
            return FileLayout.UNKNOWN;
        }
        try {
            LocatedTable at = sealed.located(container);
            long end =
                    at.table().frames() == 0 ? at.offset() : at.end(at.table().frames() - 1);
            try (InputCache.Lease lease = inputs.acquire(at.pack())) {
                return lease.input().layout(at.offset(), end - at.offset());
            }
        } catch (IOException e) {
            log.debug("container {} cannot be opened; a reader of it gets the error", container, e);
            return FileLayout.UNKNOWN;
        }
    }

    /** See {@link ContainerStore#expect(long, long)}. */
    void expect(long container, long wantedBytes) {
        try {
            StoredContainer stored = sealed.stored(container);
            if (stored == null || stored.state() != StoredContainer.State.SEALED) {
                return;
            }
            long end = stored.offset() + stored.bytes();
            if (wantedBytes >= stored.rawBytes() / 2) {
                expect(stored.pack(), stored.offset(), end);
            } else if (sealed.cached(container) == null) {
                expect(stored.pack(), Math.max(stored.offset(), end - DIRECTORY_BYTES), end);
            }
        } catch (IOException e) {
            log.debug("container {} is not read ahead; a reader of it gets the error", container, e);
        }
    }

    void expect(long pack, long from, long to) {
        try (InputCache.Lease lease = inputs.acquire(pack)) {
            lease.input().expect(from, to - from);
        } catch (IOException e) {
            log.debug("pack {} cannot be opened; a reader of it gets the error", pack, e);
        }
    }

    LocatedTable located(long container) throws IOException {
        LocatedTable unsealed = open.located(container);
        return unsealed == null ? sealed.located(container) : unsealed;
    }

    /**
     * Reads and decodes one frame, from {@code at} or, if the container was written anew, from its new place. If a
     * local copy of what a store has is damaged, reads it from the store.
     */
    private Frame frame(long container, LocatedTable at, int frame, boolean verifyFingerprints) throws IOException {
        LocatedTable place = at;
        boolean wereCopiesForgotten = false;
        while (true) {
            try {
                return frameAt(container, place, frame, verifyFingerprints);
            } catch (CorruptionException | NoSuchFileException e) {
                LocatedTable now = sealed.moved(container, place);
                if (now != null) {
                    place = now;
                } else if (wereCopiesForgotten || !forgetCopies(place, frame)) {
                    throw e;
                } else {
                    wereCopiesForgotten = true;
                }
            }
        }
    }

    private boolean forgetCopies(LocatedTable at, int frame) throws IOException {
        try (InputCache.Lease lease = inputs.acquire(at.pack())) {
            return lease.input().forgetCopies(at.start(frame), at.end(frame) - at.start(frame));
        }
    }

    private Frame frameAt(long container, LocatedTable at, int frame, boolean verifyFingerprints) throws IOException {
        if (at.table().isRemoved(frame)) {
            throw new FrameDecoder.Expected(container, at, frame).removed();
        }
        byte[] buffer = buffers.take(at.table().fileLength(frame));
        try (InputCache.Lease lease = inputs.acquire(at.pack())) {
            statistics.add(readRange(container, at, frame, frame, lease.input(), buffer, 0));
            return decoder.decode(buffer, 0, new FrameDecoder.Expected(container, at, frame), verifyFingerprints);
        } finally {
            buffers.giveBack(buffer);
        }
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
    private void frames(
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
            long end = at.end(frames[frames.length - 1]);
            if (end - at.start(frames[0]) > TransferBuffers.BUFFER_BYTES) {
                // A second system call that continues the first would look like a reader of the whole pack: the kernel
                // would read ahead of it, up to its limit beyond the last frame.
                lease.input().expect(at.start(frames[0]), end - at.start(frames[0]));
            }
            int bytes = readWanted(container, at, frames, lease.input(), buffer);
            consumer.requested(at.pack(), at.start(frames[0]), bytes, System.nanoTime() - startNanos);
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
        boolean kept = consumer.keepsFrames();
        Frame decoded;
        try {
            decoded = decoder.decode(
                    buffer,
                    offset,
                    new FrameDecoder.Expected(container, at, frame),
                    consumer.verifiesFingerprints(),
                    kept ? byte[]::new : buffers::take);
        } catch (IOException e) {
            deliverMoved(container, at, frame, consumer, e);
            return;
        }
        consumer.frame(frame, decoded);
        if (!kept) {
            buffers.giveBack(decoded.data());
        }
    }

    /**
     * Delivers a frame that could not be read in its place from the container's new place, if it has one, or from the
     * store, if it was read from a local copy.
     */
    private void deliverMoved(
            long container, LocatedTable from, int frame, FrameConsumer consumer, IOException failure) {
        Frame found;
        try {
            LocatedTable now = sealed.moved(container, from);
            if (now == null && !forgetCopies(from, frame)) {
                consumer.damaged(frame, failure);
                return;
            }
            found = frame(container, now == null ? from : now, frame, consumer.verifiesFingerprints());
        } catch (IOException e) {
            consumer.damaged(frame, e);
            return;
        }
        consumer.frame(frame, found);
    }

    /**
     * Reads each frame with a separate request, so that a bad sector in one frame does not lose its neighbours. If
     * there is only one frame, reports it as damaged.
     */
    private void readSingly(
            long container, LocatedTable at, int[] frames, FrameConsumer consumer, IOException runFailure) {
        if (frames.length == 1) {
            deliverMoved(container, at, frames[0], consumer, runFailure);
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
}
