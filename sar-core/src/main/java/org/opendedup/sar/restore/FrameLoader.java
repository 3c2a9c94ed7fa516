package org.opendedup.sar.restore;

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
import org.opendedup.sar.container.Frame;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.container.FrameTable;
import org.opendedup.sar.io.FileLayout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings frames into memory: from the cache, or from their containers, each once for all who want it at the same time. Safe for use
 * by many threads.
 */
final class FrameLoader {
    private static final Logger log = LoggerFactory.getLogger(FrameLoader.class);

    /** What one call wants from the disk. */
    @FunctionalInterface
    interface Wanted {
        /**
         * {@code ChunkId.of(container, frame)} of frames that the cache lacks, each once, rising. Asked when the disk is at the last
         * work before this, so that it need not wait for the answer.
         */
        long[] frames() throws IOException;

        /**
         * The disk has come to these frames, or none is to be read.
         *
         * @throws IOException if they are not wanted any more
         */
        default void begins() throws IOException {}
    }

    /** Takes the frames that one call has read from the disk. */
    interface Sink {
        Sink NONE = new Sink() {};

        /** Whether a frame has something for the caller, asked when it is claimed. */
        default boolean wants(FrameTable table, long container, int frame) {
            return true;
        }

        /** A frame was read. Called by several threads, before the call returns. */
        default void read(int number, Frame frame) {}

        /** Frames of so many bytes, as they are in their file, were read. */
        default void readBytes(long bytes) {}

        /** Whether the frames are to stay in the cache. */
        default boolean keepsInCache() {
            return true;
        }

        /** Told of what was read and is not decoded yet. */
        default ByteGauge memory() {
            return new ByteGauge();
        }

        /** All that was wanted of a container was read, by requests that took so long together. */
        default void readContainer(long nanos) {}
    }

    private final ContainerStore containers;
    private final FrameCache cache;
    private final DamageListener damage;
    private final boolean verifyFingerprints;
    /** Whoever reads many frames from the disk takes a turn. */
    private final DiskQueue disk;

    /** Frames that somebody reads from the disk now, or next, so that nobody reads one twice. Holds at most what readers wait for. */
    private final ConcurrentMap<Long, CompletableFuture<Frame>> inFlight = new ConcurrentHashMap<>();

    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();

    /** @param verifyFingerprints also hash every chunk read from the disk */
    FrameLoader(
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

    /** Frames found in memory. */
    long hits() {
        return hits.sum();
    }

    /** Frames read from the disk. */
    long misses() {
        return misses.sum();
    }

    /** The number of the frame that holds a chunk; that it does not exist is damage of that file. */
    int frameOf(long inode, long chunk) throws IOException {
        try {
            return containers.frameOf(chunk);
        } catch (CorruptionException e) {
            damage.damaged(inode, ChunkId.container(chunk), -1, e);
            throw e;
        }
    }

    /** As {@link #frameOf}, but -1 if that can't be told without reading a frame table. */
    int knownFrameOf(long chunk) throws IOException {
        return containers.knownFrameOf(chunk);
    }

    /** Chunks that a container has. */
    int chunksIn(long container) throws IOException {
        return containers.frameTable(container).slots();
    }

    /** Bytes of all chunks that a container has. */
    long chunkBytesIn(long container) throws IOException {
        FrameTable table = containers.frameTable(container);
        long bytes = 0;
        for (int frame = 0; frame < table.frames(); frame++) {
            bytes += table.rawLength(frame);
        }
        return bytes;
    }

    /** The frame if it is in memory. */
    @Nullable
    Frame cached(long container, int number) {
        return cache.get(container, number);
    }

    /** Whether somebody is reading a frame now, or is going to; {@code ChunkId.of(container, frame)}. */
    boolean isBeingRead(long key) {
        return inFlight.containsKey(key);
    }

    /**
     * Whether the frames of a file are to stay in the cache although it is read in sequence: it leaves room for others, and may be
     * read again. A larger one would push out all there is, itself as well.
     */
    boolean keepsFile(long bytes) {
        return bytes <= cache.maxBytes() / 2;
    }

    /**
     * A frame that somebody else has read or is reading now; waits for it. Not to be called with a turn at the disk.
     *
     * @param key {@code ChunkId.of(container, frame)}
     * @return null if nobody is, or it can't be read
     */
    @Nullable
    Frame fromOthers(long key) throws InterruptedIOException {
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
            // Whoever reads it has told, and whoever needs it will see.
            return null;
        }
    }

    /** Notes frames that were {@link #cached} and are used. */
    void noteHits(int frames) {
        hits.add(frames);
    }

    /** The frame that holds a chunk, from memory or from its container. */
    Frame frame(long inode, long chunk) throws IOException {
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

    /** What somebody else reads; null: he gave it up, which says nothing of the frame. */
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
     * Checks that a frame holds what a recipe refers to: the chunk with that check, and {@code bytes} of it at least.
     *
     * @throws CorruptionException if not; it was told to the damage listener
     */
    void check(long inode, Frame frame, long chunk, int check, int bytes) throws IOException {
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
     * Brings frames into the cache, in few disk reads: by container, near ones at once, in one turn at the disk; small reads of others
     * go between. What another thread has read meanwhile or is reading, and what cannot be read, is left out: whoever uses it will
     * wait or be told.
     *
     * @throws IOException if it is not wanted any more
     */
    void fetch(long inode, Wanted wanted, Sink sink) throws IOException {
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

    /** The frames of a container can't be told: that must not cost the others. */
    private static void leaveOut(long container, IOException cause) {
        log.debug("container {} is left to whoever needs it", container, cause);
    }

    /** Claims what is wanted, by container. */
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
     * Claimed frames of one container that lie in one piece of the disk.
     *
     * @param from the first of them in {@link Fetch#frames}
     * @param to behind the last
     * @param place of the first on the device, in bytes; -1: not known
     */
    private record Piece(Fetch fetch, int from, int to, long place) {}

    /** What was claimed, in the order in which a disk reads it with the fewest seeks. */
    private static List<Piece> inDiskOrder(List<Fetch> fetches) {
        List<Piece> pieces = new ArrayList<>();
        for (Fetch fetch : fetches) {
            fetch.addPieces(pieces);
        }
        // What is not known comes first, by container.
        pieces.sort(Comparator.comparingLong(Piece::place));
        return pieces;
    }

    private static long fileBytes(FrameTable table, int[] frames, int count) {
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            // Of a container that is being written, the last frames are in memory only.
            bytes += frames[i] < table.frames() ? table.fileLength(frames[i]) : 0;
        }
        return bytes;
    }

    /** Frames of one container being read by this thread: others that want them wait for it. */
    private final class Fetch implements FrameConsumer {
        private final long inode;
        private final long container;
        private final Sink sink;
        private final DiskQueue.Turn turn;
        private final FrameTable table;
        private final ConcurrentMap<Integer, CompletableFuture<Frame>> claimed = new ConcurrentHashMap<>();
        /** The frames claimed, rising, up to {@link #count}. */
        private int[] frames = new int[0];

        private int count;
        /** So many of them were read, by requests that took so long. */
        private int readCount;

        private long nanos;

        Fetch(long inode, long container, Sink sink, DiskQueue.Turn turn) throws IOException {
            this.inode = inode;
            this.container = container;
            this.sink = sink;
            this.turn = turn;
            table = containers.frameTable(container);
        }

        /** Claims what is wanted of the container: keys {@code first} to {@code end}. */
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
            // Of a container that is being written, the last frames have no place in the file.
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

        /** Reads a piece of what was claimed, and has it decoded. */
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
                // Who is told that it was given up asks for it again.
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

        /** Gives up what was claimed and did not come. */
        void close() {
            for (Integer number : claimed.keySet()) {
                finish(number, null, null);
            }
        }
    }
}
