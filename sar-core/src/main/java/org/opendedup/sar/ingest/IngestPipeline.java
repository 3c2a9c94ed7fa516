package org.opendedup.sar.ingest;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
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
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.container.ContainerWriter;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.RecipePage;
import org.opendedup.sar.tier.AccessListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The write path: stores a run of new bytes of a file, a segment at a time, in these steps.
 *
 * <ol>
 *   <li>{@link SegmentCutter}, {@link Fingerprinter}: bytes to chunks with fingerprints; zero runs are a length only
 *   <li>{@link ChunkIndex#lookup}: a hint for each chunk, which counts only if the reference counts know the copy
 *   <li>{@link ContainerWriter#append}: what is new, once
 *   <li>recipe pages and reference counts change together, under the change lock, visible to readers at once
 *   <li>{@link ChunkIndex#insert}: what was new; this may lag or be lost
 *   <li>with an SSD, {@link AccessListener#written}: duplicates, whose bytes are in hand
 * </ol>
 *
 * Chunking follows the file: a run that begins or ends inside a stored chunk is cut together with that chunk's other
 * bytes, from its first one until an old boundary or a hole is met: holes and zeros that were no chunk's bytes do not become some. Safe for use by many threads, for different files; runs of
 * one file come one after the other.
 */
public final class IngestPipeline {
    private static final Logger log = LoggerFactory.getLogger(IngestPipeline.class);
    /** Bytes of a segment; about 250 chunks of 8 KiB, enough for one batch of index lookups. */
    public static final int SEGMENT_BYTES = 2 << 20;

    /** Memory of one run that is being stored: its segment with the chunk that may follow, and lists of its chunks. */
    public static final long RUN_BYTES = SEGMENT_BYTES + (256 << 10);

    /** The stores and engines a pipeline calls. */
    public record Stores(
            Fingerprinter fingerprinter, ChunkIndex index, ContainerStore containers, MetadataStore metadata) {}

    /** Told, under the change lock, that the recipe now describes bytes {@code from} to {@code to} of the run's file. */
    @FunctionalInterface
    public interface Listener {
        void stored(long from, long to);
    }

    /**
     * Where a run goes.
     *
     * @param inode the file
     * @param storedBytes bytes of the file its recipe describes now; what lies behind is a hole
     * @param cleanCut an offset at which the content itself ended the last chunk, so that cutting may go on there; or -1.
     *     Any other end of the file may have been cut by the end alone, and its last chunk is cut again
     * @param last whether a chunk that the run leaves unfinished at the end of the file is to be stored as it is
     */
    public record Destination(long inode, long storedBytes, long cleanCut, boolean last) {}

    private final Chunker chunker;
    /** Boundaries lie on multiples of this in the file; 1 where the content alone decides. */
    private final int alignment;

    private final Stores stores;
    private final StoredContents contents;
    private final Lock changes;
    private final LongPredicate damaged;
    private final @Nullable AccessListener promotion;
    private final int pageBytes;
    private final IngestStatistics statistics = new IngestStatistics();
    private final BlockingQueue<Workspace> workspaces;
    /** Whether the index refused what it was given last. */
    private volatile boolean indexRefuses;

    /**
     * @param changes held shared while recipe and counts change; whoever holds it exclusively sees them agree
     * @param damaged stored copies that must not be referred to again
     * @param parallelRuns runs that can be stored at once; each takes {@link #RUN_BYTES} of memory
     * @param promotion told of duplicates with their bytes; null: nobody is
     */
    public IngestPipeline(
            Chunker chunker,
            Stores stores,
            StoredContents contents,
            Lock changes,
            LongPredicate damaged,
            int parallelRuns,
            @Nullable AccessListener promotion) {
        this.chunker = chunker;
        this.alignment = chunker.alignment();
        this.stores = stores;
        this.contents = contents;
        this.changes = changes;
        this.damaged = damaged;
        this.promotion = promotion;
        this.pageBytes = stores.metadata().header().pageBytes();
        this.workspaces = new ArrayBlockingQueue<>(parallelRuns);
        for (int i = 0; i < parallelRuns; i++) {
            workspaces.add(new Workspace(chunker));
        }
    }

    public IngestStatistics statistics() {
        return statistics;
    }

    /**
     * Stores a run.
     *
     * @return the offset up to which the run's bytes are stored: its end, or less by the unfinished chunk at the end of the
     *     file where the destination does not ask for the last one; that offset is then a clean cut
     */
    public long store(ByteRun run, Destination destination, Listener listener) throws IOException {
        Workspace workspace = take();
        try (ContainerWriter writer = stores.containers().writer(destination.inode())) {
            return new Storing(run, destination, listener, workspace, writer).store();
        } finally {
            workspaces.add(workspace);
        }
    }

    /**
     * For storing chunks once more.
     *
     * @param stream as of {@link ContainerStore#writer}
     */
    public ChunkRewriter rewriter(long stream) {
        return new ChunkRewriter(stores, stream, chunker.maxChunkBytes());
    }

    private Workspace take() {
        return Uninterruptibles.takeUninterruptibly(workspaces);
    }

    /** What one run needs at a time; a segment holds a little more than its nominal size so that a chunk always fits behind. */
    private static final class Workspace {
        final Segment segment;
        final SegmentCutter cutter;
        final SegmentDuplicates duplicates = new SegmentDuplicates();
        final RecipePage.Builder page = new RecipePage.Builder();
        final WrittenDuplicates promotion = new WrittenDuplicates();

        Workspace(Chunker chunker) {
            segment = new Segment(SEGMENT_BYTES + chunker.maxChunkBytes());
            cutter = new SegmentCutter(chunker);
        }
    }

    /** Bytes that a recipe refers to, beside a run, cannot be read. */
    private static final class OldBytesUnreadable extends IOException {
        private static final long serialVersionUID = 1;

        OldBytesUnreadable(IOException cause) {
            super(cause.getMessage(), cause);
        }
    }

    /** One run on its way. */
    private final class Storing {
        private final ByteRun run;
        private final Destination destination;
        private final Listener listener;
        private final Workspace workspace;
        private final Segment segment;
        private final ContainerWriter writer;
        private final RecipeHoles holes;
        /** Whether the run reaches the end of what the recipe describes: no old bytes follow it. */
        private final boolean appending;

        /** Whether old bytes could not be read: the run is then cut by itself, from its first byte to its last. */
        private boolean alone;

        /** Offset in the file where the input ends: the run's end, or the end of the old bytes behind it. */
        private long inputEnd;

        /** Offset in the file of the segment's first byte. */
        private long position;
        /** Bytes of input in the segment's buffer. */
        private int filled;

        Storing(ByteRun run, Destination destination, Listener listener, Workspace workspace, ContainerWriter writer) {
            this.run = run;
            this.destination = destination;
            this.listener = listener;
            this.workspace = workspace;
            this.segment = workspace.segment;
            this.writer = writer;
            holes = new RecipeHoles(stores.metadata().recipes(), destination.inode(), pageBytes);
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
                if (segment.count() > 0) {
                    storeSegment(length);
                }
                position += length;
                if (resynchronized >= 0 || inputEnds) {
                    return Math.min(position, run.end());
                }
                filled -= length;
                System.arraycopy(segment.data(), length, segment.data(), 0, filled);
            }
        }

        /** Bytes before the first place where a chunk may begin, behind a hole; they are cut by themselves. */
        private int headBytes() {
            return (int) ((alignment - position % alignment) % alignment);
        }

        private void fillOrGoAlone() throws IOException {
            try {
                fill();
            } catch (OldBytesUnreadable e) {
                // What is damaged beside the run must not cost the run: rewriting a damaged file heals it bit by bit.
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

        /** Where cutting begins: the run's start, or the start of the stored chunk that the run changes or goes on. */
        private long firstCut() throws IOException {
            long start = run.start();
            if (alignment > 1) {
                return holes.dataStart(start - start % alignment, start);
            }
            if (start == destination.cleanCut() || start == 0 || start > destination.storedBytes()) {
                return start;
            }
            return holes.isHole(start) ? chunkStart(start - 1, start) : chunkStart(start, start);
        }

        /** The file offset where the stored chunk begins that holds the byte at {@code offset}; {@code otherwise} in a hole. */
        private long chunkStart(long offset, long otherwise) throws IOException {
            long pageNumber = offset / pageBytes;
            RecipePage page = page(pageNumber);
            int entry = page.entryAt((int) (offset % pageBytes));
            if (entry == page.count() || page.isZero(entry)) {
                return otherwise;
            }
            long start = pageNumber * pageBytes + page.start(entry);
            if (entry > 0 || page.chunkOffset(entry) == 0 || pageNumber == 0) {
                return start;
            }
            RecipePage before = page(pageNumber - 1);
            int last = before.count() - 1;
            boolean continues = before.bytes() == pageBytes
                    && before.chunkId(last) == page.chunkId(entry)
                    && before.chunkOffset(last) + before.length(last) == page.chunkOffset(entry);
            return continues ? start - before.length(last) : start;
        }

        private RecipePage page(long number) throws IOException {
            return stores.metadata().recipes().page(destination.inode(), number);
        }

        /** Fills the segment's buffer: old bytes before the run, the run, and a little of what lies behind it. */
        private void fill() throws IOException {
            long to = Math.min(inputEnd, position + SEGMENT_BYTES + chunker.maxChunkBytes());
            if (!appending && !alone) {
                to = Math.min(to, Math.max(run.end(), position + filled) + 2L * chunker.maxChunkBytes());
                if (to > run.end()) {
                    long hole = holes.first(Math.max(run.end(), position + filled), to);
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
         * Drops the chunks behind the first boundary that lies at or behind the run's end and was a boundary before.
         *
         * @return bytes of the chunks that are left, or -1 if no such boundary was met yet
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
            if (alignment > 1 || offset >= destination.storedBytes()) {
                return true;
            }
            RecipePage page = page(offset / pageBytes);
            int at = (int) (offset % pageBytes);
            int entry = page.entryAt(at);
            return entry == page.count()
                    || page.isZero(entry)
                    || page.start(entry) == at && page.chunkOffset(entry) == 0;
        }

        private void storeSegment(int length) throws IOException {
            stores.fingerprinter().fingerprint(segment);
            lookup();
            int fresh = appendNew();
            long freshBytes = fresh == 0 ? 0 : freshBytes();
            changes.lock();
            try {
                stores.metadata().addToTotals(0, 0, freshBytes, fresh);
                replacePages(length);
            } finally {
                changes.unlock();
            }
            if (fresh > 0) {
                insert();
            }
            if (promotion != null && promotion.isActive()) {
                workspace.promotion.tell(
                        promotion,
                        destination.inode(),
                        segment,
                        length,
                        stores.metadata().counts());
            }
        }

        /** Without its index the pipeline goes on: what is not found is stored again. */
        private void lookup() {
            try {
                stores.index().lookup(segment);
            } catch (IOException e) {
                log.warn("the fingerprint index does not answer, duplicates are stored again: {}", e.getMessage());
                for (int chunk = 0; chunk < segment.count(); chunk++) {
                    segment.setHint(chunk, ChunkId.NONE);
                }
            }
        }

        private void insert() {
            try {
                stores.index().insert(segment);
                indexRefuses = false;
            } catch (IOException e) {
                // Once, and not for each of hundreds of segments a second.
                if (!indexRefuses) {
                    indexRefuses = true;
                    log.warn(
                            "the fingerprint index takes nothing new, duplicates are stored again: {}", e.getMessage());
                }
            }
        }

        /** Confirms the index's hints and stores the chunks that have none. Returns how many were stored. */
        private int appendNew() throws IOException {
            int fresh = 0;
            workspace.duplicates.clear(segment.count());
            for (int chunk = 0; chunk < segment.count(); chunk++) {
                int length = segment.length(chunk);
                if (segment.isZero(chunk)) {
                    statistics.zeroBytes.add(length);
                    continue;
                }
                if (isUsable(segment.chunkId(chunk))) {
                    statistics.duplicateBytes.add(length);
                    continue;
                }
                int first = workspace.duplicates.firstOf(segment, chunk);
                if (first != chunk) {
                    segment.setChunkId(chunk, segment.chunkId(first));
                    statistics.duplicateBytes.add(length);
                    continue;
                }
                long id = writer.append(
                        segment.data(),
                        segment.offset(chunk),
                        length,
                        segment.fingerprints(),
                        Segment.fingerprintOffset(chunk));
                segment.setChunkId(chunk, id);
                segment.setFresh(chunk, true);
                fresh++;
            }
            return fresh;
        }

        private boolean isUsable(long hint) throws IOException {
            return hint != ChunkId.NONE && stores.metadata().counts().isReferable(hint) && !damaged.test(hint);
        }

        private long freshBytes() {
            long bytes = 0;
            for (int chunk = 0; chunk < segment.count(); chunk++) {
                bytes += segment.isFresh(chunk) ? segment.length(chunk) : 0;
            }
            return bytes;
        }

        /** Puts the segment's references in place of what the recipe says of their bytes, and tells of each page. */
        private void replacePages(int length) throws IOException {
            long end = position + length;
            int chunk = 0;
            for (long at = position; at < end; ) {
                long number = at / pageBytes;
                long pageStart = number * pageBytes;
                long to = Math.min(end, pageStart + pageBytes);
                RecipePage old = page(number);
                RecipePage.Builder now = workspace.page;
                now.addRange(old, 0, (int) (at - pageStart));
                chunk = addReferences(now, chunk, at, to);
                now.addRange(old, (int) (to - pageStart), pageBytes);
                stores.metadata().recipes().replace(destination.inode(), number, now.build());
                listener.stored(at, to);
                at = to;
            }
        }

        /** Adds the references for file bytes {@code from} to {@code to}; returns the chunk in which {@code to} lies. */
        private int addReferences(RecipePage.Builder page, int firstChunk, long from, long to) {
            int chunk = firstChunk;
            for (long at = from; at < to; ) {
                int inChunk = (int) (at - position) - segment.offset(chunk);
                int length = (int) Math.min(segment.length(chunk) - inChunk, to - at);
                if (segment.isZero(chunk)) {
                    page.add(ChunkId.NONE, 0, length, 0);
                } else {
                    int check = Fingerprints.check(segment.fingerprints(), Segment.fingerprintOffset(chunk));
                    page.add(segment.chunkId(chunk), inChunk, length, check);
                }
                at += length;
                if (inChunk + length == segment.length(chunk)) {
                    chunk++;
                }
            }
            return chunk;
        }
    }
}
