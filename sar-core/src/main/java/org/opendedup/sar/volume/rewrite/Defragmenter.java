package org.opendedup.sar.volume.rewrite;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.ingest.ChunkRewriter;
import org.opendedup.sar.ingest.ChunkRewriter.Copies;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.restore.fragmentation.FileFragmentation;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.parts.VolumeContext;

/**
 * Rewrites those chunks of a file that lie in sparse containers: stores the same bytes once more, next to each other in
 * the order of the file, and makes the recipe refer to the copies (HAR, ATC '14, does it when a backup is written).
 *
 * <p>Processes the file in steps. First reads and appends without a lock. Then, with the file's storing lock and the
 * change lock held, replaces each reference to an old copy by one to its new copy, page and counts together. Old and
 * new copy have the same bytes. So it does not matter which copy a reader sees, or what a writer changed in the file
 * meanwhile: only references that still point to an old copy are replaced. The commit forces containers before it
 * writes recipes, so after a crash each reference points to the old copy or to an existing new one. A partly rewritten
 * file is as valid as any other: the work may stop after each step.
 */
public final class Defragmenter {
    /** Maximum number of recipe pages in one step: 16 MiB of a file at the default page size. */
    private static final int STEP_PAGES = 64;

    private final VolumeContext context;
    private final MetadataStore metadata;
    private final ChunkReader reader;
    private final ReferencePass pass;
    private final Node node;
    private final Set<Long> sparse;
    private long rewrittenChunks;
    private long rewrittenBytes;
    private long unreadableChunks;

    /** @param sparse ids of the containers whose chunks are to be rewritten */
    public Defragmenter(VolumeContext context, Node node, Set<Long> sparse) {
        this.context = context;
        this.node = node;
        this.sparse = sparse;
        metadata = context.metadata();
        reader = new ChunkReader(context.restore().inBackground());
        pass = new ReferencePass(context);
    }

    /** Returns the result of the work that is done. */
    public Defragmentation result(FileFragmentation before, FileFragmentation after, long wantedBytes) {
        return new Defragmentation(
                before, after, sparse.size(), wantedBytes, rewrittenChunks, rewrittenBytes, unreadableChunks);
    }

    /**
     * Processes the file once.
     *
     * @throws java.io.InterruptedIOException if {@code progress} stopped it; what is rewritten stays
     */
    public void run(Progress progress, long wantedBytes) throws IOException {
        node.use(context.dirtyBudget(), context.capacity());
        // Not into the containers that receive the file's own bytes: those are not read together with these.
        try (ChunkRewriter rewriter = context.ingest().rewriter(~node.id)) {
            long next = 0;
            while (true) {
                long[] pages = metadata.recipes().existingPages(node.id, next, Long.MAX_VALUE, STEP_PAGES);
                if (pages.length == 0) {
                    return;
                }
                new Step(pages, rewriter).run();
                next = pages[pages.length - 1] + 1;
                progress.at(Defragmentation.REWRITING, Math.min(rewrittenBytes, wantedBytes), wantedBytes);
            }
        } finally {
            node.leave();
        }
    }

    /** Some pages of the file. */
    private final class Step {
        private final long[] pages;
        private final ChunkRewriter rewriter;

        Step(long[] pages, ChunkRewriter rewriter) {
            this.pages = pages;
            this.rewriter = rewriter;
        }

        void run() throws IOException {
            List<Long> wanted = wanted();
            for (int from = 0; from < wanted.size(); from += ChunkRewriter.MAX_CHUNKS) {
                int to = Math.min(wanted.size(), from + ChunkRewriter.MAX_CHUNKS);
                List<Long> some = wanted.subList(from, to);
                Map<Long, byte[]> chunks = reader.read(some);
                countUnreadable(some, chunks);
                if (!chunks.isEmpty()) {
                    rewrite(chunks);
                }
            }
        }

        /** Returns the chunks in sparse containers, each once, in the order of the file. */
        private List<Long> wanted() throws IOException {
            Map<Long, Boolean> wanted = new LinkedHashMap<>();
            for (long number : pages) {
                RecipePage page = metadata.recipes().page(node.id, number);
                for (int entry = 0; entry < page.count(); entry++) {
                    if (isSparse(page, entry)) {
                        wanted.put(page.chunkId(entry), true);
                    }
                }
            }
            return new ArrayList<>(wanted.keySet());
        }

        private void countUnreadable(List<Long> some, Map<Long, byte[]> chunks) throws IOException {
            for (Long chunk : some) {
                // Others were removed as garbage, because the file was changed meanwhile.
                if (!chunks.containsKey(chunk) && metadata.counts().count(chunk) > 0) {
                    unreadableChunks++;
                }
            }
        }

        private void rewrite(Map<Long, byte[]> chunks) throws IOException {
            context.committer().checkWritable();
            long bytes = chunks.values().stream().mapToLong(data -> data.length).sum();
            // The files do not grow: a full volume may be defragmented as long as the disk is not full.
            context.collector().admitData(bytes, context::underWayBytes);
            Copies copies;
            try (GracePeriod.Use use = context.collector().uses().begin()) {
                copies = rewriter.append(chunks);
                rewriter.tellLengths(context.committer().changes());
                pass.replace(node, pages, id -> copies.copies().getOrDefault(id, ChunkId.NONE));
                rewriter.insert();
            }
            rewrittenChunks += copies.freshChunks();
            rewrittenBytes += copies.freshBytes();
        }

        private boolean isSparse(RecipePage page, int entry) {
            return !page.isZero(entry) && sparse.contains(ChunkId.container(page.chunkId(entry)));
        }
    }
}
