package org.opendedup.sar.restore.frame;

import com.carrotsearch.hppc.LongLongHashMap;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.FrameId;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.Decoding;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.LocatedTable;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.disk.DiskQueue;
import org.opendedup.sar.disk.Importance;
import org.opendedup.sar.io.FileLayout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One turn at the disk in which many frames are read with few requests: by container, frames near each other in one
 * request, in disk order. Small reads of others may run between. Workers decode meanwhile. Its holder is next at the
 * disk and chooses its frames then, so that the disk need not wait for the choice:
 *
 * <pre>{@code
 * try (FrameTurn turn = loader.next(importance, inode, sink)) {
 *     turn.claim(frames);
 *     turn.begin();
 *     turn.read();
 * }
 * }</pre>
 *
 * For one thread.
 */
public final class FrameTurn implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(FrameTurn.class);

    private final Shared shared;
    private final long inode;
    private final FrameSink sink;
    private final Decoding decoding;
    private final DiskQueue.Turn turn;
    private final List<Fetch> fetches = new ArrayList<>();
    private List<Piece> pieces = List.of();
    /** What the kernel is to be asked for when a piece has been read. */
    private final Map<Piece, List<LongVisits.Range>> behind = new HashMap<>();

    /**
     * What all turns of one volume share.
     *
     * @param disk queue of the device that holds the containers
     * @param verifyFingerprints whether every chunk read from the disk is also hashed
     * @param inFlight by {@link FrameId}, frames that a thread is reading from the disk, or is about to read, so that
     *     no frame is read twice; holds at most the frames that readers wait for
     * @param misses counts the frames read from the disk
     */
    record Shared(
            ContainerStore containers,
            DiskQueue disk,
            FrameCache cache,
            boolean verifyFingerprints,
            DamageListener damage,
            ConcurrentMap<Long, CompletableFuture<Frame>> inFlight,
            LongAdder misses) {}

    private FrameTurn(Shared shared, long inode, FrameSink sink, Decoding decoding, DiskQueue.Turn turn) {
        this.shared = shared;
        this.inode = inode;
        this.sink = sink;
        this.decoding = decoding;
        this.turn = turn;
    }

    /** Waits until the caller is next at the disk, among those of its importance. */
    static FrameTurn next(Shared shared, Importance importance, long inode, FrameSink sink) {
        Decoding decoding = shared.containers.decoding(sink.memory());
        return new FrameTurn(shared, inode, sink, decoding, shared.disk.next(importance));
    }

    /**
     * Claims frames, which this is to read. Leaves out frames that another thread has read or is reading, frames that
     * cannot be located, and removed ones. To be called once, before {@link #begin}.
     *
     * @param ids {@link FrameId}s of frames that the cache lacks, each once, in ascending order
     */
    public void claim(long[] ids) {
        for (int first = 0; first < ids.length; ) {
            long container = FrameId.container(ids[first]);
            int end = first;
            while (end < ids.length && FrameId.container(ids[end]) == container) {
                end++;
            }
            try {
                Fetch fetch = new Fetch(container);
                fetches.add(fetch);
                fetch.claim(ids, first, end);
            } catch (IOException e) {
                leaveOut(container, e);
            }
            first = end;
        }
        pieces = inDiskOrder();
    }

    /** Waits until the turn begins. Does not take the turn if no frame was claimed. */
    public void begin() {
        if (!pieces.isEmpty()) {
            turn.begin();
        }
    }

    /** Returns the claimed frames in the order in which a disk reads them with the fewest seeks. */
    private List<Piece> inDiskOrder() {
        List<Piece> ordered = new ArrayList<>();
        for (Fetch fetch : fetches) {
            fetch.addPieces(ordered);
        }
        // Pieces of unknown place are read first, by container.
        ordered.sort(Comparator.comparingLong(Piece::place));
        return ordered;
    }

    /**
     * Makes the turn's visits to far places of the disk longer. To be called once, after {@link #claim}; best before
     * {@link #begin}, because the disk waits for what the holder does after that.
     *
     * @param later returns the bytes of chunks that later turns of the same reader want, by container
     */
    public void lengthen(LongVisits visits, Supplier<LongLongHashMap> later) {
        DiskModel model = shared.disk.model();
        if (model.seekBytes() < LongVisits.LEAST_SEEK_BYTES) {
            return;
        }
        List<Piece> placed = pieces.stream().filter(piece -> piece.place >= 0).toList();
        // Each visit by its last piece.
        Map<Piece, LongVisits.Visit> made = new LinkedHashMap<>();
        boolean isAsked = false;
        boolean isFromDisk = false;
        for (int i = 0; i < placed.size(); i++) {
            Piece piece = placed.get(i);
            boolean isPieceAsked = visits.hasAsked(piece.fetch.container);
            isAsked |= isPieceAsked;
            isFromDisk |= !isPieceAsked;
            boolean isLast =
                    i + 1 == placed.size() || placed.get(i + 1).place - piece.end() > LongVisits.LEAST_SEEK_BYTES;
            if (isLast) {
                made.put(piece, new LongVisits.Visit(piece.range(), isFromDisk));
                isFromDisk = false;
            }
        }
        // Until the disk is measured, a file in one place is left to the turns: they measure it.
        boolean isMeasuring = made.size() == 1 && !isAsked && model.source() == DiskModel.Source.ASSUMED;
        if (!made.isEmpty() && !isMeasuring) {
            turn.expects();
            lengthen(visits, made, later.get());
        }
    }

    private void lengthen(LongVisits visits, Map<Piece, LongVisits.Visit> made, LongLongHashMap later) {
        try {
            Iterator<List<LongVisits.Range>> more =
                    visits.lengthen(List.copyOf(made.values()), later).iterator();
            for (Piece last : made.keySet()) {
                behind.put(last, more.next());
            }
        } catch (IOException e) {
            log.debug("the visits of a turn are not longer", e);
        }
    }

    /** Reads the claimed frames. Leaves out those that cannot be read, whose damage is reported. */
    public void read() {
        if (shared.containers.answersAtOnce()) {
            for (Piece piece : pieces) {
                // Frames that are not yet written are in memory.
                if (piece.fetch.table.contains(piece.fetch.frames[piece.to - 1])) {
                    LongVisits.Range range = piece.range();
                    shared.containers.expect(range.pack(), range.from(), range.to());
                }
            }
        }
        for (Piece piece : pieces) {
            try {
                piece.fetch.read(piece);
            } catch (IOException e) {
                leaveOut(piece.fetch.container, e);
            }
            for (LongVisits.Range range : behind.getOrDefault(piece, List.of())) {
                shared.containers.expect(range.pack(), range.from(), range.to());
            }
        }
    }

    /** Logs that a container's frames cannot be located; the frames of other containers are still read. */
    private static void leaveOut(long container, IOException cause) {
        log.debug("container {} is not read ahead; a reader that needs it gets the error", container, cause);
    }

    /** Ends the turn, then waits until all frames are decoded. Abandons claimed frames that were not read. */
    @Override
    public void close() {
        try (decoding) {
            turn.close();
        } finally {
            fetches.forEach(Fetch::close);
        }
    }

    /**
     * Claimed frames of one container that are contiguous on the disk.
     *
     * @param from index of the first of them in {@link Fetch#frames}
     * @param to index after the last
     * @param place offset of the first on the device, in bytes; -1 if not known
     */
    private record Piece(Fetch fetch, int from, int to, long place) {
        /** Returns the offset on the device of the end of the last frame, in bytes. */
        long end() {
            return place + range().length();
        }

        /** Returns where it lies in its pack. */
        LongVisits.Range range() {
            LocatedTable at = fetch.at;
            return new LongVisits.Range(at.pack(), at.start(fetch.frames[from]), at.end(fetch.frames[to - 1]));
        }
    }

    private static long fileBytes(FrameTable table, int[] frames, int count) {
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            bytes += table.contains(frames[i]) ? table.fileLength(frames[i]) : 0;
        }
        return bytes;
    }

    /** Claimed frames of one container that this thread reads: other threads that want them wait for it. */
    private final class Fetch implements FrameConsumer {
        private final long container;
        private final LocatedTable at;
        private final FrameTable table;
        private final ConcurrentMap<Integer, CompletableFuture<Frame>> claimed = new ConcurrentHashMap<>();
        /** Numbers of the claimed frames, in ascending order, up to {@link #count}. */
        private int[] frames = new int[0];

        private int count;
        /** Number of claimed frames that were read, and the total time of their requests in nanoseconds. */
        private int readCount;

        private long nanos;
        /**
         * Place of the piece that is being read, and the offset in its pack at which its first request began, or -1.
         */
        private long readPlace;

        private long readFrom = -1;

        Fetch(long container) throws IOException {
            this.container = container;
            at = shared.containers.located(container);
            table = at.table();
        }

        /** Claims the wanted frames of the container: ids {@code first} to {@code end} (exclusive). */
        void claim(long[] ids, int first, int end) {
            frames = new int[end - first];
            for (int i = first; i < end; i++) {
                int frame = FrameId.number(ids[i]);
                boolean removed = table.contains(frame) && table.isRemoved(frame);
                if (!removed
                        && shared.cache.get(container, frame) == null
                        && sink.wants(table, container, frame)
                        && claim(frame)) {
                    frames[count++] = frame;
                }
            }
        }

        private boolean claim(int frame) {
            CompletableFuture<Frame> mine = new CompletableFuture<>();
            boolean free = shared.inFlight.putIfAbsent(FrameId.of(container, frame), mine) == null;
            if (free) {
                claimed.put(frame, mine);
            }
            return free;
        }

        void addPieces(List<Piece> pieces) {
            if (count == 0) {
                return;
            }
            boolean isStored = table.contains(frames[count - 1]);
            FileLayout layout = isStored ? shared.containers.layout(container) : FileLayout.UNKNOWN;
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
        void read(Piece piece) throws IOException {
            int[] wanted = Arrays.copyOfRange(frames, piece.from, piece.to);
            shared.misses.add(wanted.length);
            readPlace = piece.place;
            readFrom = -1;
            long start = System.nanoTime();
            shared.containers.readFrames(
                    container, wanted, wanted.length, shared.disk.model().gapBytes(), this, decoding);
            nanos += System.nanoTime() - start;
            readCount += wanted.length;
            sink.onBytesRead(fileBytes(table, wanted, wanted.length));
            if (readCount == count) {
                sink.onContainerRead(nanos);
            }
        }

        @Override
        public void requested(long pack, long offset, int bytes, long nanos) {
            readFrom = readFrom < 0 ? offset : readFrom;
            if (readPlace < 0) {
                turn.requested(pack, offset, bytes, nanos);
            } else {
                turn.requested(DiskQueue.DEVICE, readPlace + offset - readFrom, bytes, nanos);
            }
        }

        @Override
        public boolean verifiesFingerprints() {
            return shared.verifyFingerprints;
        }

        @Override
        public boolean keepsFrames() {
            return sink.keepsFrames();
        }

        @Override
        public void frame(int number, Frame frame) {
            if (sink.keepsFrames()) {
                shared.cache.put(container, number, frame);
            }
            sink.onFrame(number, frame);
            finish(number, sink.keepsFrames() ? frame : null, null);
        }

        @Override
        public void damaged(int number, IOException cause) {
            shared.damage.damaged(inode, container, number, cause);
            finish(number, null, cause);
        }

        private void finish(int number, @Nullable Frame frame, @Nullable IOException cause) {
            CompletableFuture<Frame> mine = claimed.remove(number);
            if (mine == null) {
                return;
            }
            Long id = FrameId.of(container, number);
            if (frame == null && cause == null) {
                // A thread that waits for a frame that was abandoned, or is not kept, requests it again.
                shared.inFlight.remove(id, mine);
                mine.cancel(false);
                return;
            }
            if (frame != null) {
                mine.complete(frame);
            } else {
                mine.completeExceptionally(cause);
            }
            shared.inFlight.remove(id, mine);
        }

        /** Abandons claimed frames that were not read. */
        void close() {
            for (Integer number : claimed.keySet()) {
                finish(number, null, null);
            }
        }
    }
}
