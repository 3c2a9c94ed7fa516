package org.opendedup.sar.tier;

import java.io.IOException;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.function.LongPredicate;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.HashChunk;
import org.opendedup.sar.metadata.RecipePage;
import org.opendedup.sar.metadata.RecipeStore;
import org.opendedup.sar.tier.FileExplanation.Chunk;
import org.opendedup.sar.tier.FileExplanation.ChunkVisitor;
import org.opendedup.sar.tier.FileExplanation.Share;
import org.opendedup.sar.tier.FileExplanation.Verdict;

/**
 * Explains a file to an administrator: goes over its recipe as a sequential reader does, in requests of {@value #REQUEST_BYTES}
 * bytes. Changes nothing. Memory is bounded, however long the file. For one use, by one thread.
 */
public final class FileExplainer {
    /** What the kernel asks for at once of a file that is read in sequence. */
    static final int REQUEST_BYTES = 1 << 20;
    /** Pages whose records are looked up at a time. */
    private static final int PAGES = 64;

    private final RecipeStore recipes;
    private final int pageBytes;
    private final long pagesPerRequest;
    private final FrameTables tables;
    private final CountSource counts;
    private final Rules rules;

    private final ChunkRequest request = new ChunkRequest();
    private long[] offsets = new long[64];
    private final ColdRead fromDisk = new ColdRead();
    private final ColdRead withSsd = new ColdRead();
    private final long[] chunks = new long[Verdict.values().length];
    private final long[] bytes = new long[Verdict.values().length];
    /** Number in the file of the request that is being gathered. */
    private long requestNumber;

    private long ssdChunks;
    private long ssdBytes;
    private boolean stopped;

    /**
     * By what chunks are judged.
     *
     * @param onSsd whether a chunk is on the SSD
     * @param settings the parameters as they are now
     * @param policy the policy that they name
     */
    public record Rules(LongPredicate onSsd, TierSettings settings, PromotionPolicy policy) {}

    /** @param pageBytes span of a recipe page */
    public FileExplainer(RecipeStore recipes, int pageBytes, FrameTables tables, CountSource counts, Rules rules) {
        this.recipes = recipes;
        this.pageBytes = pageBytes;
        this.pagesPerRequest = Math.max(1, REQUEST_BYTES / pageBytes);
        this.tables = tables;
        this.counts = counts;
        this.rules = rules;
    }

    /**
     * Explains a file from a place on, or until the visitor has enough.
     *
     * @param from offset in the file; the request that holds it is the first one looked at
     * @param visitor gets the chunks that begin at {@code from} or behind
     * @return the figures of all requests that were looked at
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

    /** Pages {@code first} to {@code end} (exclusive), whole requests. */
    private void explainPages(long inode, long first, long end, long from, ChunkVisitor visitor) throws IOException {
        recipes.forEachPage(inode, first, end, (page, recipe) -> {
            if (page / pagesPerRequest != requestNumber) {
                finish(from, visitor);
                requestNumber = page / pagesPerRequest;
            }
            add(page, recipe);
        });
        finish(from, visitor);
    }

    private void add(long page, RecipePage recipe) throws IOException {
        for (int entry = 0; entry < recipe.count(); entry++) {
            if (recipe.isZero(entry)) {
                continue;
            }
            int i = request.count();
            if (i == offsets.length) {
                offsets = Arrays.copyOf(offsets, 2 * i);
            }
            long chunkId = recipe.chunkId(entry);
            offsets[i] = page * pageBytes + recipe.start(entry);
            int frame = tables.of(ChunkId.container(chunkId)).frameOf(ChunkId.slot(chunkId));
            request.add(chunkId, recipe.length(entry), recipe.check(entry), frame);
            request.setReferences(i, counts.count(chunkId));
            request.setSource(i, rules.onSsd().test(chunkId) ? Source.SSD : Source.HOME);
        }
    }

    /** Judges the request that was gathered, and forgets it. */
    private void finish(long from, ChunkVisitor visitor) throws IOException {
        if (!stopped) {
            plan();
            for (int start = 0; start < request.count(); ) {
                int end = Runs.end(request, start);
                judge(start, end, from, visitor);
                start = end;
            }
        }
        request.clear();
    }

    private void judge(int start, int end, long from, ChunkVisitor visitor) {
        long runBytes = Runs.bytes(request, start, end);
        for (int i = start; i < end; i++) {
            Verdict verdict = verdict(i, runBytes);
            chunks[verdict.ordinal()]++;
            bytes[verdict.ordinal()] += request.length(i);
            if (!stopped && offsets[i] >= from) {
                HashChunk chunk =
                        new HashChunk(request.chunkId(i), request.check(i), request.length(i), request.references(i));
                stopped = !visitor.accept(new Chunk(offsets[i], chunk, runBytes, verdict));
            }
        }
    }

    private Verdict verdict(int i, long runBytes) {
        if (request.source(i) == Source.SSD) {
            return Verdict.ON_SSD;
        } else if (runBytes >= rules.settings().maxRunBytes()) {
            return Verdict.LONG_RUN;
        } else if (rules.policy().promotes(Cause.WRITE, request.references(i), request.length(i), runBytes)) {
            return Verdict.NOT_WANTED_AGAIN;
        } else if (rules.settings().promoteOnRead()
                && rules.policy().promotes(Cause.READ, request.references(i), request.length(i), runBytes)) {
            return Verdict.NEVER_READ_TWICE;
        }
        return Verdict.TOO_FEW_REFERENCES;
    }

    /** Reads the request in thought, without the SSD and with it. Frames that are on their way to the disk cost nothing. */
    private void plan() throws IOException {
        for (int i = 0; i < request.count(); i++) {
            if (request.frame(i) >= 0) {
                long container = ChunkId.container(request.chunkId(i));
                fromDisk.want(container, request.frame(i));
                // One chunk without a copy fetches its frame, which then serves all chunks wanted of it.
                if (request.source(i) == Source.HOME) {
                    withSsd.want(container, request.frame(i));
                }
            }
        }
        fromDisk.read(tables);
        withSsd.read(tables);
        for (int i = 0; i < request.count(); i++) {
            boolean fromFrame =
                    request.frame(i) < 0 || withSsd.isInMemory(ChunkId.container(request.chunkId(i)), request.frame(i));
            if (!fromFrame) {
                ssdChunks++;
                ssdBytes += request.length(i);
            }
        }
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
                ssdChunks,
                ssdBytes);
    }
}
