package org.opendedup.sar.restore.frame;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ByteGauge;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.Decoding;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.io.FileLayout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings frames into memory: from the cache, or from their containers. A frame that several threads want at the same
 * time is read once. Safe for use by many threads.
 */
public final class FrameLoader {
    private static final Logger log = LoggerFactory.getLogger(FrameLoader.class);

    /** The frames that one call wants from the disk. */
    @FunctionalInterface
    public interface Wanted {
        /**
         * Returns {@code ChunkId.of(container, frame)} of frames that the cache lacks, each once, in ascending order.
         * Called while the disk does the last work ahead of this call, so that the disk need not wait for the answer.
         */
        long[] frames() throws IOException;

        /**
         * Called when the turn at the disk for these frames begins, or when none is to be read.
         *
         * @throws IOException if they are not wanted any more
         */
        default void begins() throws IOException {}
    }

    /** Receives the frames that one call has read from the disk. */
    public interface Sink {
        Sink NONE = new Sink() {};

        /** Whether the caller needs a frame; called when the frame is claimed. */
        default boolean wants(FrameTable table, long container, int frame) {
            return true;
        }

        /** Receives a frame that was read. Called by several threads, until the call returns. */
        default void read(int number, Frame frame) {}

        /**
         * Notes that frames were read.
         *
         * @param bytes size of these frames in their file
         */
        default void readBytes(long bytes) {}

        /** Whether the frames are to stay in the cache. */
        default boolean keepsInCache() {
            return true;
        }

        /** Returns the gauge of bytes that were read and are not decoded yet. */
        default ByteGauge memory() {
            return new ByteGauge();
        }

        /**
         * Notes that all wanted frames of a container were read.
         *
         * @param nanos total time of the requests, in nanoseconds
         */
        default void readContainer(long nanos) {}
    }

    private final ContainerStore containers;
    private final FrameCache cache;
    private final DamageListener damage;
    private final boolean verifyFingerprints;
    /** Queue of the disk: a call that reads many frames takes a turn. */
    private final DiskQueue disk;

    /**
     * Frames that a thread is reading from the disk, or is about to read, so that no frame is read twice. Holds at most
     * the frames that readers wait for.
     */
    private final ConcurrentMap<Long, CompletableFuture<Frame>> inFlight = new ConcurrentHashMap<>();

    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();

    /** @param verifyFingerprints whether every chunk read from the disk is also hashed */
    public FrameLoader(
            ContainerStore containers,
            DiskQueue disk,
            FrameCache cache,
            boolean verifyFingerprints,
            DamageListener damage) {
        this.containers = containers;
        this.disk = disk;
        this.cache = cache;
        this.verifyFingerprints = verifyFingerprints;
        this.damage = damage;
    }

    /** Number of frames found in memory. */
    public long hits() {
        return hits.sum();
    }

    /** Number of frames read from the disk. */
    public long misses() {
        return misses.sum();
    }

    /**
     * Returns the number of the frame that holds a chunk. A chunk that does not exist is reported as damage of the
     * file.
     */
    public int frameOf(long inode, long chunk) throws IOException {
        try {
            return containers.frameOf(chunk);
        } catch (CorruptionException e) {
            damage.damaged(inode, ChunkId.container(chunk), -1, e);
            throw e;
        }
    }

    /** As {@link #frameOf}, but -1 if the frame table would have to be read. */
    int knownFrameOf(long chunk) throws IOException {
        return containers.knownFrameOf(chunk);
    }

    /** Number of chunks in a container. */
    public int chunksIn(long container) throws IOException {
        return containers.frameTable(container).slots();
    }

    /** Bytes of all chunks in a container. */
    public long chunkBytesIn(long container) throws IOException {
        FrameTable table = containers.frameTable(container);
        long bytes = 0;
        for (int frame = 0; frame < table.frames(); frame++) {
            bytes += table.rawLength(frame);
        }
        return bytes;
    }

    /** Returns the frame if it is in memory. */
    @Nullable
    public Frame cached(long container, int number) {
        return cache.get(container, number);
    }

    /** Whether a thread is reading a frame, or is about to; the key is {@code ChunkId.of(container, frame)}. */
    public boolean isBeingRead(long key) {
        return inFlight.containsKey(key);
    }

    /**
     * Whether the frames of a file of {@code bytes} bytes are to stay in the cache although the file is read in
     * sequence. Such a file leaves room for others, and may be read again. A larger one would evict everything else,
     * and its own frames as well.
     */
    public boolean keepsFile(long bytes) {
        return bytes <= cache.maxBytes() / 2;
    }

    /**
     * Returns a frame that another thread has read or is reading; waits for it. Not to be called with a turn at the
     * disk.
     *
     * @param key {@code ChunkId.of(container, frame)}
     * @return null if no thread has read or is reading it, or it cannot be read
     */
    @Nullable
    public Frame fromOthers(long key) throws InterruptedIOException {
        CompletableFuture<Frame> reading = inFlight.get(key);
        if (reading == null) {
            return cached(ChunkId.container(key), ChunkId.slot(key));
        }
        try {
            return reading.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for a disk read");
        } catch (CancellationException | ExecutionException e) {
            // The thread that reads the frame has reported the damage; a reader that needs the frame will get the
            // error.
            return null;
        }
    }

    /** Counts frames that were {@link #cached} and are used. */
    public void noteHits(int frames) {
        hits.add(frames);
    }

    /** Returns the frame that holds a chunk, from memory or from its container. */
    public Frame frame(long inode, long chunk) throws IOException {
        long container = ChunkId.container(chunk);
        int number = frameOf(inode, chunk);
        Frame found = cache.get(container, number);
        if (found != null) {
            hits.increment();
            return found;
        }
        return load(inode, container, number);
    }

    private Frame load(long inode, long container, int number) throws IOException {
        Long key = ChunkId.of(container, number);
        CompletableFuture<Frame> mine = new CompletableFuture<>();
        CompletableFuture<Frame> others = inFlight.putIfAbsent(key, mine);
        if (others != null) {
            Frame theirs = await(others);
            return theirs != null ? theirs : load(inode, container, number);
        }
        try {
            misses.increment();
            Frame frame = containers.frame(container, number, verifyFingerprints);
            cache.put(container, number, frame);
            mine.complete(frame);
            return frame;
        } catch (IOException e) {
            mine.completeExceptionally(e);
            damage.damaged(inode, container, number, e);
            throw e;
        } catch (RuntimeException | Error e) {
            mine.completeExceptionally(e);
            throw e;
        } finally {
            inFlight.remove(key, mine);
        }
    }

    /** Waits for a frame that another thread reads; null if that thread abandoned the read: retry. */
    private static @Nullable Frame await(CompletableFuture<Frame> frame) throws IOException {
        try {
            return frame.get();
        } catch (CancellationException givenUp) {
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for a disk read", e);
        } catch (ExecutionException e) {
            throw new IOException("a disk read failed: " + e.getMessage(), e);
        }
    }

    /**
     * Checks that a frame holds what a recipe refers to: the chunk with that check, and at least {@code bytes} bytes of
     * it.
     *
     * @throws CorruptionException if not; it was reported to the damage listener
     */
    public void check(long inode, Frame frame, long chunk, int check, int bytes) throws IOException {
        if (holds(frame, chunk, check, bytes)) {
            return;
        }
        int slot = ChunkId.slot(chunk);
        CorruptionException mismatch = new CorruptionException(
                "chunk " + ChunkId.toString(chunk),
                -1,
                "fingerprint " + Integer.toHexString(check) + "… and " + bytes + " bytes",
                Integer.toHexString(frame.check(slot)) + "… and " + frame.length(slot));
        damage.damaged(inode, frame.container(), containers.frameOf(chunk), mismatch);
        throw mismatch;
    }

    static boolean holds(Frame frame, long chunk, int check, int bytes) {
        int slot = ChunkId.slot(chunk);
        return frame.check(slot) == check && bytes <= frame.length(slot);
    }

    /**
     * Brings frames into the cache with few disk reads: by container, frames near each other in one read, all in one
     * turn at the disk. Small reads of others may run between. Leaves out frames that another thread has read or is
     * reading, and frames that cannot be read: a caller that needs one waits for it, or gets the error.
     *
     * @throws IOException if the frames are not wanted any more
     */
    public void fetch(long inode, Wanted wanted, Sink sink) throws IOException {
        List<Fetch> fetches = new ArrayList<>();
        try (Decoding decoding = containers.decoding(sink.memory())) {
            try (DiskQueue.Turn turn = disk.next()) {
                claim(inode, wanted.frames(), sink, turn, fetches);
                List<Piece> pieces = inDiskOrder(fetches);
                if (!pieces.isEmpty()) {
                    turn.begin();
                }
                wanted.begins();
                for (Piece piece : pieces) {
                    try {
                        piece.fetch.read(piece, decoding);
                    } catch (IOException e) {
                        leaveOut(piece.fetch.container, e);
                    }
                }
            }
        } finally {
            fetches.forEach(Fetch::close);
        }
    }

    /** Logs that a container's frames cannot be located; the frames of other containers are still read. */
    private static void leaveOut(long container, IOException cause) {
        log.debug("container {} is left to whoever needs it", container, cause);
    }

    /** Claims the wanted frames, by container. */
    private void claim(long inode, long[] keys, Sink sink, DiskQueue.Turn turn, List<Fetch> fetches) {
        for (int first = 0; first < keys.length; ) {
            long container = ChunkId.container(keys[first]);
            int end = first;
            while (end < keys.length && ChunkId.container(keys[end]) == container) {
                end++;
            }
            try {
                Fetch fetch = new Fetch(inode, container, sink, turn);
                fetches.add(fetch);
                fetch.claim(keys, first, end);
            } catch (IOException e) {
                leaveOut(container, e);
            }
            first = end;
        }
    }

    /**
     * Claimed frames of one container that are contiguous on the disk.
     *
     * @param from index of the first of them in {@link Fetch#frames}
     * @param to index after the last
     * @param place offset of the first on the device, in bytes; -1 if not known
     */
    private record Piece(Fetch fetch, int from, int to, long place) {}

    /** Returns the claimed frames in the order in which a disk reads them with the fewest seeks. */
    private static List<Piece> inDiskOrder(List<Fetch> fetches) {
        List<Piece> pieces = new ArrayList<>();
        for (Fetch fetch : fetches) {
            fetch.addPieces(pieces);
        }
        // Pieces of unknown place are read first, by container.
        pieces.sort(Comparator.comparingLong(Piece::place));
        return pieces;
    }

    private static long fileBytes(FrameTable table, int[] frames, int count) {
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            // The last frames of a container that is being written are in memory only.
            bytes += frames[i] < table.frames() ? table.fileLength(frames[i]) : 0;
        }
        return bytes;
    }

    /** Claimed frames of one container that this thread reads: other threads that want them wait for it. */
    private final class Fetch implements FrameConsumer {
        private final long inode;
        private final long container;
        private final Sink sink;
        private final DiskQueue.Turn turn;
        private final FrameTable table;
        private final ConcurrentMap<Integer, CompletableFuture<Frame>> claimed = new ConcurrentHashMap<>();
        /** Numbers of the claimed frames, in ascending order, up to {@link #count}. */
        private int[] frames = new int[0];

        private int count;
        /** Number of claimed frames that were read, and the total time of their requests in nanoseconds. */
        private int readCount;

        private long nanos;

        Fetch(long inode, long container, Sink sink, DiskQueue.Turn turn) throws IOException {
            this.inode = inode;
            this.container = container;
            this.sink = sink;
            this.turn = turn;
            table = containers.frameTable(container);
        }

        /** Claims the wanted frames of the container: keys {@code first} to {@code end} (exclusive). */
        void claim(long[] keys, int first, int end) {
            frames = new int[end - first];
            for (int i = first; i < end; i++) {
                int frame = ChunkId.slot(keys[i]);
                if (cache.get(container, frame) == null && sink.wants(table, container, frame) && claim(frame)) {
                    frames[count++] = frame;
                }
            }
        }

        private boolean claim(int frame) {
            CompletableFuture<Frame> mine = new CompletableFuture<>();
            boolean free = inFlight.putIfAbsent(ChunkId.of(container, frame), mine) == null;
            if (free) {
                claimed.put(frame, mine);
            }
            return free;
        }

        void addPieces(List<Piece> pieces) {
            if (count == 0) {
                return;
            }
            // The last frames of a container that is being written have no place in the file.
            boolean isStored = frames[count - 1] < table.frames();
            FileLayout layout = isStored ? containers.layout(container) : FileLayout.UNKNOWN;
            if (layout == FileLayout.UNKNOWN) {
                pieces.add(new Piece(this, 0, count, -1));
                return;
            }
            for (int from = 0; from < count; ) {
                int to = endOfPiece(layout, from);
                pieces.add(new Piece(this, from, to, layout.place(table.fileOffset(frames[from]))));
                from = to;
            }
        }

        private int endOfPiece(FileLayout layout, int from) {
            long end = layout.pieceEnd(table.fileOffset(frames[from]));
            int to = from + 1;
            while (to < count && table.fileOffset(frames[to]) < end) {
                to++;
            }
            return to;
        }

        /** Reads a piece of the claimed frames, and has it decoded. */
        void read(Piece piece, Decoding decoding) throws IOException {
            int[] wanted = Arrays.copyOfRange(frames, piece.from, piece.to);
            misses.add(wanted.length);
            turn.moves();
            long start = System.nanoTime();
            containers.readFrames(container, wanted, wanted.length, disk.model().gapBytes(), this, decoding);
            nanos += System.nanoTime() - start;
            readCount += wanted.length;
            sink.readBytes(fileBytes(table, wanted, wanted.length));
            if (readCount == count) {
                sink.readContainer(nanos);
            }
        }

        @Override
        public void requested(long offset, int bytes, long nanos) {
            turn.requested(container, offset, bytes, nanos);
        }

        @Override
        public boolean verifiesFingerprints() {
            return verifyFingerprints;
        }

        @Override
        public void frame(int number, Frame frame) {
            if (sink.keepsInCache()) {
                cache.put(container, number, frame);
            }
            sink.read(number, frame);
            finish(number, frame, null);
        }

        @Override
        public void damaged(int number, IOException cause) {
            damage.damaged(inode, container, number, cause);
            finish(number, null, cause);
        }

        private void finish(int number, @Nullable Frame frame, @Nullable IOException cause) {
            CompletableFuture<Frame> mine = claimed.remove(number);
            if (mine == null) {
                return;
            }
            Long key = ChunkId.of(container, number);
            if (frame == null && cause == null) {
                // A thread that waits for the abandoned frame requests it again.
                inFlight.remove(key, mine);
                mine.cancel(false);
                return;
            }
            if (frame != null) {
                mine.complete(frame);
            } else {
                mine.completeExceptionally(cause);
            }
            inFlight.remove(key, mine);
        }

        /** Abandons claimed frames that were not read. */
        void close() {
            for (Integer number : claimed.keySet()) {
                finish(number, null, null);
            }
        }
    }
}
