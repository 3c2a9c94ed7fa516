package org.opendedup.sar.hot;

import java.io.IOException;
import java.util.Arrays;
import java.util.EnumMap;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.HashChunk;
import org.opendedup.sar.hot.FileExplanation.Chunk;
import org.opendedup.sar.hot.FileExplanation.ChunkVisitor;
import org.opendedup.sar.hot.FileExplanation.DiskWork;
import org.opendedup.sar.hot.FileExplanation.Share;
import org.opendedup.sar.hot.FileExplanation.SsdWork;
import org.opendedup.sar.hot.FileExplanation.Verdict;
import org.opendedup.sar.hot.copies.CountSource;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.hot.policy.PromotionPolicy;
import org.opendedup.sar.hot.promotion.FileRuns;
import org.opendedup.sar.hot.promotion.FrameTables;
import org.opendedup.sar.metadata.recipes.RecipeStore;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.ssd.Cause;
import org.opendedup.sar.ssd.ChunkRequest;
import org.opendedup.sar.ssd.CopyReads;
import org.opendedup.sar.ssd.MapEntry;
import org.opendedup.sar.ssd.Source;

/**
 * Explains a file to an administrator: walks its recipe as a sequential reader does, in requests of
 * {@value #REQUEST_BYTES} bytes. Runs are those of the file, regardless of request borders. A chunk that lies in two
 * recipe pages counts once. Changes nothing. Memory is bounded for any file length. For one use, by one thread.
 */
public final class FileExplainer {
    /** Bytes that the kernel requests at once of a file that is read in sequence. */
    static final int REQUEST_BYTES = 1 << 20;
    /** Recipe pages looked up at a time. */
    private static final int PAGES = 64;

    private final RecipeStore recipes;
    private final int pageBytes;
    private final long pagesPerRequest;
    private final FrameTables tables;
    private final CountSource counts;
    private final Rules rules;
    private final PromotionPolicy policy;

    private final ChunkRequest request = new ChunkRequest();
    private long[] offsets = new long[64];
    /** Offset in each chunk of the first byte that the file uses, and the number of bytes used. */
    private int[] chunkOffsets = new int[64];

    private int[] lengths = new int[64];
    private final FileRuns runs;
    /**
     * Whether the request starts with the rest of a chunk that the previous request ended with and already reported.
     */
    private boolean headTold;
    /**
     * File offset of the end of the chunk added last, with its id and the offset in the chunk where its used bytes end.
     */
    private long lastEnd = -1;

    private long lastChunk = ChunkId.NONE;
    private int lastNeed;

    private final ColdRead fromDisk = new ColdRead();
    private final ColdRead withSsd = new ColdRead();
    private final long[] chunks = new long[Verdict.values().length];
    private final long[] bytes = new long[Verdict.values().length];
    /** Number in the file of the request that is being collected. */
    private long requestNumber;

    private final CopyReads fromSsd = new CopyReads();
    private final MapEntry copy = new MapEntry();
    private long ssdChunks;
    private double withSsdSeconds;
    private boolean stopped;

    /** Finds the copies of chunks. */
    @FunctionalInterface
    public interface Copies {
        /** Copies the Map table's entry of a chunk to {@code into}; returns false if it has none. */
        boolean find(long chunkId, MapEntry into);
    }

    /**
     * What chunks are judged by.
     *
     * @param settings the current parameters
     */
    public record Rules(Copies copies, HotSettings settings) {}

    public FileExplainer(RecipeStore recipes, FrameTables tables, CountSource counts, Rules rules) {
        this.recipes = recipes;
        pageBytes = recipes.pageBytes();
        this.pagesPerRequest = Math.max(1, REQUEST_BYTES / pageBytes);
        this.tables = tables;
        this.counts = counts;
        this.rules = rules;
        policy = rules.settings().promotionPolicy();
        runs = new FileRuns(recipes);
    }

    /**
     * Explains a file from an offset to its end, or until the visitor wants no more.
     *
     * @param from offset in the file, in bytes; the request that contains it is the first one examined
     * @param visitor receives the chunks that begin at {@code from} or after it
     * @return the figures of all requests examined
     */
    public FileExplanation explain(long inode, long from, ChunkVisitor visitor) throws IOException {
        long next = from / pageBytes / pagesPerRequest * pagesPerRequest;
        while (!stopped) {
            long[] pages = recipes.existingPages(inode, next, Long.MAX_VALUE, PAGES);
            if (pages.length == 0) {
                break;
            }
            long end = (pages[pages.length - 1] / pagesPerRequest + 1) * pagesPerRequest;
            explainPages(inode, pages[0], end, from, visitor);
            next = end;
        }
        return explanation();
    }

    /** Explains pages {@code first} to {@code end} (exclusive), in whole requests. */
    private void explainPages(long inode, long first, long end, long from, ChunkVisitor visitor) throws IOException {
        recipes.forEachPage(inode, first, end, (page, recipe) -> {
            if (page / pagesPerRequest != requestNumber) {
                finish(inode, from, visitor);
                requestNumber = page / pagesPerRequest;
            }
            add(page, recipe);
        });
        finish(inode, from, visitor);
    }

    private void add(long page, RecipePage recipe) throws IOException {
        for (int entry = 0; entry < recipe.count(); entry++) {
            if (recipe.isZero(entry)) {
                continue;
            }
            long chunkId = recipe.chunkId(entry);
            long offset = page * pageBytes + recipe.start(entry);
            int chunkOffset = recipe.chunkOffset(entry);
            int length = recipe.length(entry);
            boolean continues = isRest(offset, chunkId, chunkOffset);
            lastEnd = offset + length;
            lastChunk = chunkId;
            lastNeed = chunkOffset + length;
            int i = request.count();
            if (continues && i > 0) {
                lengths[i - 1] += length;
                request.setLength(i - 1, lastNeed);
                continue;
            }
            headTold |= continues;
            if (i == offsets.length) {
                offsets = Arrays.copyOf(offsets, 2 * i);
                chunkOffsets = Arrays.copyOf(chunkOffsets, 2 * i);
                lengths = Arrays.copyOf(lengths, 2 * i);
            }
            offsets[i] = offset;
            chunkOffsets[i] = chunkOffset;
            lengths[i] = length;
            int frame = tables.of(ChunkId.container(chunkId)).table().frameOf(ChunkId.slot(chunkId));
            request.add(chunkId, lastNeed, recipe.fingerprintPrefix(entry), frame);
            request.setReferences(i, counts.count(chunkId));
            request.setSource(i, rules.copies().find(chunkId, copy) ? Source.SSD : Source.HOME);
        }
    }

    /** Returns whether this reference is the rest of the chunk added last, which a page border cut. */
    private boolean isRest(long offset, long chunkId, int chunkOffset) {
        return offset == lastEnd && chunkId == lastChunk && chunkOffset == lastNeed;
    }

    /** Judges the collected request, then clears it. */
    private void finish(long inode, long from, ChunkVisitor visitor) throws IOException {
        if (!stopped && request.count() > 0) {
            long start = requestNumber * pagesPerRequest;
            long end = start + pagesPerRequest;
            addRest(recipes.page(inode, end), end * pageBytes);
            plan();
            runs.clear();
            for (int i = 0; i < request.count(); i++) {
                runs.add(offsets[i], request.chunkId(i), chunkOffsets[i], lengths[i]);
            }
            runs.measure(inode, start * pageBytes, end * pageBytes, false, Long.MAX_VALUE);
            for (int i = headTold ? 1 : 0; i < request.count(); i++) {
                judge(i, runs.runBytes(i), from, visitor);
            }
        }
        headTold = false;
        request.clear();
    }

    /** Adds to the last chunk the part of it that the next request has. */
    private void addRest(RecipePage next, long offset) {
        if (next.count() > 0 && !next.isZero(0) && isRest(offset, next.chunkId(0), next.chunkOffset(0))) {
            lengths[request.count() - 1] += next.length(0);
        }
    }

    private void judge(int i, long runBytes, long from, ChunkVisitor visitor) {
        Verdict verdict = verdict(i, runBytes);
        chunks[verdict.ordinal()]++;
        bytes[verdict.ordinal()] += lengths[i];
        if (!stopped && offsets[i] >= from) {
            HashChunk chunk =
                    new HashChunk(request.chunkId(i), request.fingerprintPrefix(i), lengths[i], request.references(i));
            stopped = !visitor.accept(new Chunk(offsets[i], chunk, runBytes, verdict));
        }
    }

    private Verdict verdict(int i, long runBytes) {
        int references = request.references(i);
        if (request.source(i) == Source.SSD) {
            return Verdict.ON_SSD;
        } else if (!rules.settings().enabled()) {
            return Verdict.NOTHING_PROMOTES;
        } else if (promotes(Cause.WRITE, i, references, runBytes)) {
            return Verdict.NOT_WANTED_AGAIN;
        } else if (promotes(Cause.READ, i, references, runBytes)) {
            return policy.promotesFirstRead() ? Verdict.NOT_READ : Verdict.NEVER_READ_TWICE;
        } else if (promotes(Cause.WRITE, i, Integer.MAX_VALUE, runBytes)) {
            return Verdict.TOO_FEW_REFERENCES;
        }
        // The policy refuses the run, or nothing that happens to a chunk promotes it.
        return promotes(Cause.WRITE, i, Integer.MAX_VALUE, 1) ? Verdict.LONG_RUN : Verdict.NOTHING_PROMOTES;
    }

    private boolean promotes(Cause cause, int i, int references, long runBytes) {
        return (cause != Cause.READ || rules.settings().promoteOnRead())
                && policy.promotes(cause, references, request.length(i), runBytes);
    }

    /**
     * Predicts the reads for the request, without the SSD and with it. Frames that are still on their way to the disk
     * cost nothing.
     */
    private void plan() throws IOException {
        DiskWork before = withSsd.work();
        SsdWork ssdBefore = ssdWork();
        for (int i = 0; i < request.count(); i++) {
            if (request.frame(i) >= 0) {
                long container = ChunkId.container(request.chunkId(i));
                fromDisk.want(container, request.frame(i));
                // One chunk without a copy fetches its frame, which then serves all chunks wanted from it.
                if (request.source(i) == Source.HOME) {
                    withSsd.want(container, request.frame(i));
                }
            }
        }
        fromDisk.read(tables);
        withSsd.read(tables);
        for (int i = headTold ? 1 : 0; i < request.count(); i++) {
            boolean fromFrame =
                    request.frame(i) < 0 || withSsd.isInMemory(ChunkId.container(request.chunkId(i)), request.frame(i));
            if (!fromFrame && rules.copies().find(request.chunkId(i), copy)) {
                ssdChunks++;
                fromSsd.want(copy);
            }
        }
        fromSsd.read();
        withSsdSeconds +=
                Math.max(withSsd.work().seconds() - before.seconds(), ssdWork().seconds() - ssdBefore.seconds());
    }

    private SsdWork ssdWork() {
        return new SsdWork(ssdChunks, fromSsd.requests(), fromSsd.bytes());
    }

    private FileExplanation explanation() {
        var verdicts = new EnumMap<Verdict, Share>(Verdict.class);
        for (Verdict verdict : Verdict.values()) {
            verdicts.put(verdict, new Share(chunks[verdict.ordinal()], bytes[verdict.ordinal()]));
        }
        return new FileExplanation(
                Arrays.stream(chunks).sum(),
                Arrays.stream(bytes).sum(),
                verdicts,
                fromDisk.work(),
                withSsd.work(),
                ssdWork(),
                withSsdSeconds);
    }
}
