package org.opendedup.sar.ingest;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.locks.Lock;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Chunker;
import org.opendedup.sar.chunk.Fingerprinter;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.chunk.SegmentCutter;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.ContainerWriter;
import org.opendedup.sar.hot.copies.AccessListener;
import org.opendedup.sar.index.ChunkIndex;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The write path: stores a run of new bytes of a file, one segment at a time, in these steps.
 *
 * <ol>
 *   <li>{@link SegmentCutter}, {@link Fingerprinter}: make chunks with fingerprints; a zero run has only a length
 *   <li>{@link ChunkIndex#lookup}: get a hint for each chunk, which is valid only if the reference counts know the copy
 *   <li>{@link ContainerWriter#append}: store each new chunk once
 *   <li>change recipe pages and reference counts together, under the change lock; readers see the change immediately
 *   <li>{@link ChunkIndex#insert}: insert the new chunks; this may be delayed or lost
 *   <li>with an SSD, {@link AccessListener#onDuplicatesWritten}: report duplicates, whose bytes are in memory
 * </ol>
 *
 * Chunking follows the file: a run that begins or ends inside a stored chunk is cut together with that chunk's other
 * bytes, from the chunk's first byte until an old boundary or a hole is found. Holes and zeros that were not part of a
 * chunk are not included. Safe for use by many threads, for different files; runs of one file are stored one after the
 * other.
 */
public final class IngestPipeline {
    private static final Logger log = LoggerFactory.getLogger(IngestPipeline.class);
    /** Size of a segment, in bytes: about 250 chunks of 8 KiB, enough for one batch of index lookups. */
    public static final int SEGMENT_BYTES = 2 << 20;

    /** Maximum number of files in one segment: as many chunks as a segment of a large file has. */
    private static final int MAX_FILES_PER_SEGMENT = 256;

    /**
     * Memory of one run that is being stored, in bytes: its segment plus the chunk that may follow, and lists of its
     * chunks.
     */
    public static final long RUN_BYTES = SEGMENT_BYTES + (256 << 10);

    /**
     * The place in a file where a run is stored.
     *
     * @param inode inode number of the file
     * @param storedBytes bytes of the file that its recipe describes now; the rest of the file is a hole
     * @param cleanCut an offset at which the content itself ended the last chunk, so that cutting may continue there;
     *     or -1. At any other end of the file, the end alone may have determined the cut; the last chunk is then cut
     *     again
     * @param last whether to store a chunk that the run leaves unfinished at the end of the file
     */
    public record Destination(long inode, long storedBytes, long cleanCut, boolean last) {}

    private final Chunker chunker;
    /** Alignment of boundaries in the file, in bytes; 1 where only the content decides. */
    private final int alignment;

    private final IngestStores stores;
    private final StoredContents contents;
    private final IngestStatistics statistics = new IngestStatistics();
    private final BlockingQueue<Workspace> workspaces;

    /**
     * @param changes held shared while recipe and counts change; recipe and counts agree while it is held exclusively
     * @param damaged stored copies that must not be referenced again
     * @param parallelRuns number of runs that can be stored at the same time; each uses {@link #RUN_BYTES} of memory
     * @param promotion notified of duplicates with their bytes; null for no notification
     */
    public IngestPipeline(
            Chunker chunker,
            IngestStores stores,
            StoredContents contents,
            Lock changes,
            LongPredicate damaged,
            int parallelRuns,
            @Nullable AccessListener promotion) {
        this.chunker = chunker;
        this.alignment = chunker.alignment();
        this.stores = stores;
        this.contents = contents;
        this.workspaces = new ArrayBlockingQueue<>(parallelRuns);
        ForgivingIndex index = new ForgivingIndex(stores.index());
        ContentsBeingStored beingStored = new ContentsBeingStored();
        for (int i = 0; i < parallelRuns; i++) {
            workspaces.add(new Workspace(
                    chunker, new SegmentStore(stores, index, beingStored, changes, damaged, promotion, statistics)));
        }
    }

    public IngestStatistics statistics() {
        return statistics;
    }

    /**
     * Stores a run.
     *
     * @return the offset up to which the run's bytes are stored: the run's end, or less if an unfinished chunk at the
     *     end of the file is left out because the destination does not request the last one; the offset is then a clean
     *     cut
     */
    public long store(ByteRun run, Destination destination, StoreListener listener) throws IOException {
        Workspace workspace = take();
        try (ContainerWriter writer = stores.containers().writer(destination.inode())) {
            return new Storing(run, destination, listener, workspace, writer).store();
        } finally {
            workspaces.add(workspace);
        }
    }

    /**
     * A small file whose bytes are all in memory, from its first to its last.
     *
     * @param run its bytes; it begins at offset 0, and has at most {@link #SEGMENT_BYTES}
     * @param isOneChunk whether it is one chunk, if that may be so long
     * @param listener as for {@link #store}
     */
    public record SmallFile(long inode, ByteRun run, boolean isOneChunk, StoreListener listener) {}

    /**
     * Stores small files, many in one segment, so that each step is made once for all of these, and files that follow
     * each other lie together. If this fails, the files whose listeners were notified are stored.
     *
     * @param stream as in {@link ContainerStore#writer}
     */
    public void storeTogether(List<SmallFile> files, long stream) throws IOException {
        Workspace workspace = take();
        try (ContainerWriter writer = stores.containers().writer(stream)) {
            for (int from = 0; from < files.size(); ) {
                from = storeTogether(files, from, workspace, writer);
            }
        } finally {
            workspaces.add(workspace);
        }
    }

    /** Stores as many files from {@code from} on as one segment takes; returns the number of the next one. */
    private static int storeTogether(List<SmallFile> files, int from, Workspace workspace, ContainerWriter writer)
            throws IOException {
        Segment segment = workspace.segment();
        segment.clear();
        List<SegmentPart> parts = new ArrayList<>();
        int filled = 0;
        int next = from;
        while (next < files.size() && parts.size() < MAX_FILES_PER_SEGMENT) {
            SmallFile file = files.get(next);
            int length = (int) file.run.end();
            if (filled > 0 && length > SEGMENT_BYTES - filled) {
                break;
            }
            file.run.copy(0, segment.data(), filled, length);
            if (file.isOneChunk) {
                workspace.cutter.addWhole(segment, filled, filled + length);
            } else {
                workspace.cutter.reset();
                workspace.cutter.cut(segment, filled, filled + length, true);
            }
            parts.add(new SegmentPart(file.inode, 0, filled, length, false, file.listener));
            filled += length;
            next++;
        }
        workspace.store.store(segment, parts, files.get(from).run.isHelped(), writer);
        return next;
    }

    /**
     * Finds or stores copies of chunks that are cut, for recipes that the caller changes afterwards: until then it has
     * a use of stored copies open, which it began before this call. {@link Segment#chunkId} names the copies.
     *
     * @param segment chunks without fingerprints, none of them a zero run
     * @param stream as in {@link ContainerStore#writer}
     */
    public void storeChunks(Segment segment, long stream) throws IOException {
        Workspace workspace = take();
        try (ContainerWriter writer = stores.containers().writer(stream)) {
            workspace.store.store(segment, List.of(), true, writer);
        } finally {
            workspaces.add(workspace);
        }
    }

    /**
     * Finds copies of chunks by their fingerprints, for the same purpose as {@link #storeChunks}.
     * {@link Segment#chunkId} names the copies, and is {@link ChunkId#NONE} where there is none.
     */
    public void findChunks(Segment segment) throws IOException {
        Workspace workspace = take();
        try {
            workspace.store.find(segment);
        } finally {
            workspaces.add(workspace);
        }
    }

    /**
     * Creates a rewriter, which stores new copies of chunks.
     *
     * @param stream as in {@link ContainerStore#writer}
     */
    public ChunkRewriter rewriter(long stream) {
        return new ChunkRewriter(stores, stream);
    }

    private Workspace take() {
        return Uninterruptibles.takeUninterruptibly(workspaces);
    }

    /**
     * The objects that one run uses. The segment is a little larger than its nominal size so that one more chunk always
     * fits after it.
     */
    private static final class Workspace {
        final SegmentCutter cutter;
        final SegmentStore store;
        private final int segmentBytes;
        /** Made when it is needed: of many runs at a time few volumes have more than one. */
        private @Nullable Segment segment;

        Workspace(Chunker chunker, SegmentStore store) {
            this.store = store;
            segmentBytes = SEGMENT_BYTES + chunker.maxChunkBytes();
            cutter = new SegmentCutter(chunker);
        }

        Segment segment() {
            if (segment == null) {
                segment = new Segment(segmentBytes);
            }
            return segment;
        }
    }

    /** Thrown when bytes next to a run, which a recipe refers to, cannot be read. */
    private static final class OldBytesUnreadable extends IOException {
        private static final long serialVersionUID = 1;

        OldBytesUnreadable(IOException cause) {
            super(cause.getMessage(), cause);
        }
    }

    /** The storing of one run. */
    private final class Storing {
        private final ByteRun run;
        private final Destination destination;
        private final StoreListener listener;
        private final Workspace workspace;
        private final Segment segment;
        private final ContainerWriter writer;
        private final StoredChunks stored;
        /** Whether the run reaches the end of the bytes that the recipe describes: no old bytes follow it. */
        private final boolean appending;

        /** Whether old bytes could not be read: only the run is then cut, from its first byte to its last. */
        private boolean alone;

        /** Offset in the file where the input ends: the run's end, or the end of the old bytes after it. */
        private long inputEnd;

        /** Offset in the file of the segment's first byte. */
        private long position;
        /** Number of input bytes in the segment's buffer. */
        private int filled;

        Storing(
                ByteRun run,
                Destination destination,
                StoreListener listener,
                Workspace workspace,
                ContainerWriter writer) {
            this.run = run;
            this.destination = destination;
            this.listener = listener;
            this.workspace = workspace;
            this.segment = workspace.segment();
            this.writer = writer;
            stored = new StoredChunks(stores.metadata().recipes(), destination.inode());
            appending = run.end() >= destination.storedBytes();
            inputEnd = appending ? run.end() : destination.storedBytes();
        }

        long store() throws IOException {
            position = firstCut();
            workspace.cutter.reset();
            while (true) {
                fillOrGoAlone();
                int head = headBytes() < filled ? headBytes() : 0;
                boolean inputEnds = position + filled == inputEnd && head == 0;
                segment.clear();
                int consumed = head > 0
                        ? workspace.cutter.cut(segment, 0, head, true)
                        : workspace.cutter.cut(segment, 0, filled, inputEnds && (destination.last() || !appending));
                int resynchronized = appending || alone ? -1 : truncateAtOldBoundary();
                int length = resynchronized >= 0 ? resynchronized : consumed;
                boolean ends = resynchronized >= 0 || inputEnds;
                if (segment.count() > 0) {
                    storeSegment(length, !ends || !destination.last());
                }
                position += length;
                if (ends) {
                    return Math.min(position, run.end());
                }
                filled -= length;
                System.arraycopy(segment.data(), length, segment.data(), 0, filled);
            }
        }

        /**
         * Returns the number of bytes ahead of the first offset where a chunk may begin, after a hole; they are cut
         * separately.
         */
        private int headBytes() {
            return (int) ((alignment - position % alignment) % alignment);
        }

        private void fillOrGoAlone() throws IOException {
            try {
                fill();
            } catch (OldBytesUnreadable e) {
                // Damage next to the run must not prevent storing the run: rewriting a damaged file repairs it step by
                // step.
                log.warn(
                        "inode {}: {}; what was written there is stored by itself",
                        destination.inode(),
                        e.getMessage());
                alone = true;
                position = Math.max(position, run.start());
                filled = 0;
                inputEnd = run.end();
                fill();
            }
        }

        /**
         * Returns the offset where cutting begins: the run's start, or the start of the stored chunk that the run
         * changes or continues.
         */
        private long firstCut() throws IOException {
            long start = run.start();
            if (alignment > 1) {
                return stored.dataStart(start - start % alignment, start);
            }
            if (start == destination.cleanCut() || start == 0 || start > destination.storedBytes()) {
                return start;
            }
            return stored.chunkStart(stored.isHole(start) ? start - 1 : start, start);
        }

        /** Fills the segment's buffer: old bytes ahead of the run, the run, and a few old bytes after it. */
        private void fill() throws IOException {
            long to = Math.min(inputEnd, position + SEGMENT_BYTES + chunker.maxChunkBytes());
            if (!appending && !alone) {
                to = Math.min(to, Math.max(run.end(), position + filled) + 2L * chunker.maxChunkBytes());
                if (to > run.end()) {
                    long hole = stored.nextHole(Math.max(run.end(), position + filled), to);
                    inputEnd = hole < to ? hole : inputEnd;
                    to = hole;
                }
            }
            long at = position + filled;
            while (at < to) {
                int place = (int) (at - position);
                long end;
                if (at >= run.start() && at < run.end()) {
                    end = Math.min(to, run.end());
                    run.copy(at, segment.data(), place, (int) (end - at));
                } else {
                    end = at < run.start() ? Math.min(to, run.start()) : to;
                    readOld(at, place, (int) (end - at));
                }
                at = end;
            }
            filled = (int) (to - position);
        }

        private void readOld(long offset, int place, int length) throws OldBytesUnreadable {
            try {
                contents.read(destination.inode(), offset, segment.data(), place, length);
            } catch (IOException e) {
                throw new OldBytesUnreadable(e);
            }
        }

        /**
         * Finds the first boundary that lies at or after the run's end and was a boundary in the old recipe; removes
         * the chunks after it.
         *
         * @return bytes of the remaining chunks, or -1 if no such boundary was found yet
         */
        private int truncateAtOldBoundary() throws IOException {
            for (int chunk = 0; chunk < segment.count(); chunk++) {
                int end = segment.offset(chunk) + segment.length(chunk);
                if (position + end >= run.end() && wasBoundary(position + end)) {
                    segment.truncate(chunk + 1);
                    return end;
                }
            }
            return -1;
        }

        private boolean wasBoundary(long offset) throws IOException {
            return alignment > 1 || offset >= destination.storedBytes() || stored.isBoundary(offset);
        }

        /** @param open whether more of the file follows and will be stored */
        private void storeSegment(int length, boolean open) throws IOException {
            SegmentPart part = new SegmentPart(destination.inode(), position, 0, length, open, listener);
            workspace.store.store(segment, List.of(part), run.isHelped(), writer);
        }
    }
}
