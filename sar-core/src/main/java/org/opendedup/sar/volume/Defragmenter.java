package org.opendedup.sar.volume;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.Lock;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.container.format.Frame;
import org.opendedup.sar.ingest.ChunkRewriter;
import org.opendedup.sar.ingest.ChunkRewriter.Copies;
import org.opendedup.sar.metadata.HeldRecipe;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.RecipePage;
import org.opendedup.sar.restore.fragmentation.FileFragmentation;
import org.opendedup.sar.tier.promotion.HomeFrames;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
final class Defragmenter {
    private static final Logger log = LoggerFactory.getLogger(Defragmenter.class);
    /** Maximum number of recipe pages in one step: 16 MiB of a file at the default page size. */
    private static final int STEP_PAGES = 64;

    private final VolumeContext context;
    private final MetadataStore metadata;
    private final HomeFrames home;
    private final Node node;
    private final Set<Long> sparse;
    private long rewrittenChunks;
    private long rewrittenBytes;
    private long unreadableChunks;

    /** @param sparse ids of the containers whose chunks are to be rewritten */
    Defragmenter(VolumeContext context, Node node, Set<Long> sparse) {
        this.context = context;
        this.node = node;
        this.sparse = sparse;
        metadata = context.metadata();
        home = context.restore().inBackground();
    }

    /** Returns the result of the work that is done. */
    Defragmentation result(FileFragmentation before, FileFragmentation after, long wantedBytes) {
        return new Defragmentation(
                before, after, sparse.size(), wantedBytes, rewrittenChunks, rewrittenBytes, unreadableChunks);
    }

    /** Processes the file once. */
    void run(Defragmentation.Progress progress, long wantedBytes) throws IOException {
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
                if (!progress.rewritten(Math.min(rewrittenBytes, wantedBytes), wantedBytes)) {
                    return;
                }
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
                Map<Long, byte[]> chunks = read(wanted.subList(from, to));
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

        private void rewrite(Map<Long, byte[]> chunks) throws IOException {
            context.committer().checkWritable();
            long bytes = chunks.values().stream().mapToLong(data -> data.length).sum();
            // The files do not grow: a full volume may be defragmented as long as the disk is not full.
            context.collector().admitData(bytes, context::underWayBytes);
            Copies copies;
            try (GracePeriod.Use use = context.collector().uses().begin()) {
                copies = rewriter.append(chunks);
                replace(copies);
                rewriter.insert();
            }
            rewrittenChunks += copies.freshChunks();
            rewrittenBytes += copies.freshBytes();
        }

        private void replace(Copies copies) throws IOException {
            Lock storing = node.contents().storing;
            Lock changes = context.committer().changes();
            try (HeldRecipe held =
                    metadata.recipes().hold(node.id, pages[0], pages[pages.length - 1] + 1, STEP_PAGES)) {
                for (long copy : copies.copies().values()) {
                    held.holdCount(copy);
                }
                storing.lock();
                try {
                    node.awaitNotCutting();
                    changes.lock();
                    try {
                        rewriter.tellLengths();
                        for (long page : pages) {
                            replace(page, copies.copies());
                        }
                        context.nodes().markDirty(node);
                    } finally {
                        changes.unlock();
                    }
                } finally {
                    storing.unlock();
                }
            }
        }

        private void replace(long number, Map<Long, Long> copies) throws IOException {
            RecipePage page = metadata.recipes().page(node.id, number);
            RecipePage.Builder now = new RecipePage.Builder();
            boolean changed = false;
            for (int entry = 0; entry < page.count(); entry++) {
                Long copy = isSparse(page, entry) ? copies.get(page.chunkId(entry)) : null;
                long chunkId = copy == null ? page.chunkId(entry) : copy;
                now.add(chunkId, page.chunkOffset(entry), page.length(entry), page.fingerprintPrefix(entry));
                changed |= copy != null;
            }
            if (changed) {
                metadata.recipes().replace(node.id, number, now.build());
            }
        }

        private boolean isSparse(RecipePage page, int entry) {
            return !page.isZero(entry) && sparse.contains(ChunkId.container(page.chunkId(entry)));
        }
    }

    /** Reads chunks, container by container. Returns them in the requested order, without those that cannot be read. */
    private Map<Long, byte[]> read(List<Long> wanted) throws IOException {
        var byContainer = new TreeMap<Long, List<Long>>();
        for (Long chunk : wanted) {
            byContainer
                    .computeIfAbsent(ChunkId.container(chunk), id -> new ArrayList<>())
                    .add(chunk);
        }
        var read = new HashMap<Long, byte[]>();
        for (Map.Entry<Long, List<Long>> container : byContainer.entrySet()) {
            try {
                readContainer(container.getKey(), container.getValue(), read);
            } catch (IOException e) {
                log.warn("chunks of inode {} stay where they are: {}", node.id, e.getMessage());
            }
        }
        var chunks = new LinkedHashMap<Long, byte[]>();
        for (Long chunk : wanted) {
            byte[] data = read.get(chunk);
            if (data != null) {
                chunks.put(chunk, data);
            } else if (metadata.counts().count(chunk) > 0) {
                // Others were removed as garbage, because the file was changed meanwhile.
                unreadableChunks++;
            }
        }
        return chunks;
    }

    /** Reads chunks of one container, a few frames a turn at the disk: readers of the volume get theirs in between. */
    private void readContainer(long container, List<Long> wanted, Map<Long, byte[]> read) throws IOException {
        wanted.sort(null);
        int[] frames = new int[HomeFrames.FRAMES_PER_TURN];
        int count = 0;
        ChunkCopies copies = new ChunkCopies(wanted, read);
        for (long chunk : wanted) {
            int frame = home.frameOf(chunk);
            if (count > 0 && frames[count - 1] == frame) {
                continue;
            }
            if (count == frames.length) {
                home.read(container, frames, count, copies);
                count = 0;
            }
            frames[count++] = frame;
        }
        home.read(container, frames, count, copies);
    }

    /** Copies the bytes of chunks from their frames. */
    private record ChunkCopies(List<Long> wanted, Map<Long, byte[]> read) implements FrameConsumer {
        @Override
        public void frame(int number, Frame frame) {
            for (Long chunk : wanted) {
                int slot = ChunkId.slot(chunk);
                if (frame.holds(slot)) {
                    int from = frame.offset(slot);
                    read.put(chunk, Arrays.copyOfRange(frame.data(), from, from + frame.length(slot)));
                }
            }
        }

        @Override
        public void damaged(int frame, IOException failure) {
            log.warn("chunks stay where they are: {}", failure.getMessage());
        }

        /** Returns true: a damaged chunk must not get a new copy with a new checksum. */
        @Override
        public boolean verifiesFingerprints() {
            return true;
        }
    }
}
