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
import org.opendedup.sar.container.Frame;
import org.opendedup.sar.container.FrameConsumer;
import org.opendedup.sar.ingest.ChunkRewriter;
import org.opendedup.sar.ingest.ChunkRewriter.Copies;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.RecipePage;
import org.opendedup.sar.restore.FileFragmentation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rewrites those chunks of a file that lie in sparse containers: stores the same bytes once more, next to each other in the order
 * of the file, and has the recipe refer to the copies (HAR, ATC '14, does it when a backup is written).
 *
 * <p>Goes over the file in steps: read and append without a lock; then, with the file's storing lock and the change lock held,
 * replace each reference to an old copy by one to its fresh copy, page and counts together. Old and fresh copy have the same
 * bytes, so it does not matter what a reader sees, nor what a writer did to the file in between: only what still refers to an old
 * copy is replaced. The commit forces containers before it writes recipes, so a crash leaves the old reference or a copy that is
 * there. Some of a file done is as good as any other state of it: it may stop after each step.
 */
final class Defragmenter {
    private static final Logger log = LoggerFactory.getLogger(Defragmenter.class);
    /** Recipe pages looked at in one step: 16 MiB of a file at the default page size. */
    private static final int STEP_PAGES = 64;
    /** As the read path joins frames. */
    private static final int MAX_GAP_BYTES = 256 << 10;

    private final VolumeParts parts;
    private final MetadataStore metadata;
    private final Node node;
    private final Set<Long> sparse;
    private long rewrittenChunks;
    private long rewrittenBytes;
    private long unreadableChunks;

    /** @param sparse the containers whose chunks are to be rewritten */
    Defragmenter(VolumeParts parts, Node node, Set<Long> sparse) {
        this.parts = parts;
        this.node = node;
        this.sparse = sparse;
        metadata = parts.metadata();
    }

    /** What was done until now. */
    Defragmentation result(FileFragmentation before, FileFragmentation after, long wantedBytes) {
        return new Defragmentation(
                before, after, sparse.size(), wantedBytes, rewrittenChunks, rewrittenBytes, unreadableChunks);
    }

    /** Goes over the file once. */
    void run(Defragmentation.Progress progress, long wantedBytes) throws IOException {
        node.use(parts.dirtyBudget(), parts.capacity());
        // Not in the containers that the file's own bytes go to: those are not wanted together with these.
        try (ChunkRewriter rewriter = parts.ingest().rewriter(~node.id)) {
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

        /** The chunks in sparse containers, each once, in the order of the file. */
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
            parts.committer().checkWritable();
            long bytes = chunks.values().stream().mapToLong(data -> data.length).sum();
            // The files do not get longer: a volume that is full may be defragmented as long as the disk is not.
            parts.devices().admitData(bytes, parts.underWayBytes());
            Copies copies = rewriter.append(chunks);
            replace(copies);
            rewriter.insert();
            rewrittenChunks += copies.freshChunks();
            rewrittenBytes += copies.freshBytes();
        }

        private void replace(Copies copies) throws IOException {
            Lock storing = node.contents().storing;
            Lock changes = parts.committer().changes();
            storing.lock();
            try {
                node.awaitNotCutting();
                changes.lock();
                try {
                    metadata.addToTotals(0, 0, copies.freshBytes(), copies.freshChunks());
                    for (long page : pages) {
                        replace(page, copies.copies());
                    }
                    parts.nodes().markDirty(node);
                } finally {
                    changes.unlock();
                }
            } finally {
                storing.unlock();
            }
        }

        private void replace(long number, Map<Long, Long> copies) throws IOException {
            RecipePage page = metadata.recipes().page(node.id, number);
            RecipePage.Builder now = new RecipePage.Builder();
            boolean changed = false;
            for (int entry = 0; entry < page.count(); entry++) {
                Long copy = isSparse(page, entry) ? copies.get(page.chunkId(entry)) : null;
                long chunkId = copy == null ? page.chunkId(entry) : copy;
                now.add(chunkId, page.chunkOffset(entry), page.length(entry), page.check(entry));
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

    /** Reads chunks, container by container; in the order asked for, without those that cannot be read. */
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
            } else {
                unreadableChunks++;
            }
        }
        return chunks;
    }

    private void readContainer(long container, List<Long> wanted, Map<Long, byte[]> read) throws IOException {
        wanted.sort(null);
        int[] frames = new int[wanted.size()];
        int count = 0;
        for (long chunk : wanted) {
            int frame = parts.containers().frameOf(chunk);
            if (count == 0 || frames[count - 1] != frame) {
                frames[count++] = frame;
            }
        }
        parts.containers().readFrames(container, frames, count, MAX_GAP_BYTES, new ChunkCopies(wanted, read));
    }

    /** Takes chunks' bytes out of their frames. */
    private record ChunkCopies(List<Long> wanted, Map<Long, byte[]> read) implements FrameConsumer {
        @Override
        public void frame(int number, Frame frame) {
            for (Long chunk : wanted) {
                int slot = ChunkId.slot(chunk);
                if (slot >= frame.firstSlot() && slot < frame.firstSlot() + frame.count()) {
                    int from = frame.offset(slot);
                    read.put(chunk, Arrays.copyOfRange(frame.data(), from, from + frame.length(slot)));
                }
            }
        }

        @Override
        public void damaged(int frame, IOException failure) {
            log.warn("chunks stay where they are: {}", failure.getMessage());
        }

        /** A damaged chunk must not get a new copy with a new checksum. */
        @Override
        public boolean verifiesFingerprints() {
            return true;
        }
    }
}
