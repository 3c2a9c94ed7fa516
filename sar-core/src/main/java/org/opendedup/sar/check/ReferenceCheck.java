package org.opendedup.sar.check;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.metadata.ContainerCounts;
import org.opendedup.sar.metadata.Inode;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.RecipePage;
import org.opendedup.sar.metadata.StoredCopies;

/**
 * Checks that the metadata of a volume are consistent with each other and with the containers' frame tables: every
 * reference of every recipe is counted, nothing else is counted, and every referenced copy lies in a container. Reads
 * no chunk data. Keeps in memory one int for each referenced chunk, and one map entry for each chunk that is cut by a
 * page border or by a change. No change may run at the same time.
 */
public final class ReferenceCheck {
    /** The frame tables of the containers. */
    @FunctionalInterface
    public interface FrameTables {
        /**
         * Returns the frame table of a container; null if it is known to be unreadable and need not be reported.
         *
         * @throws IOException if it cannot be read
         */
        @Nullable
        FrameTable of(long container) throws IOException;
    }

    private final MetadataStore metadata;
    private final FrameTables tables;
    private final Consumer<String> report;
    /** Number of references in the recipes that do not begin with the chunk's first byte, by chunk id. */
    private final Map<Long, Integer> continuations = new HashMap<>();
    /** Bytes of all files that are stored in chunks, according to the inodes. */
    private long dataBytes;
    /** The stored copies of all containers, according to their count records. */
    private StoredCopies recounted = StoredCopies.NONE;

    /** @param report receives each problem, as one sentence */
    public ReferenceCheck(MetadataStore metadata, FrameTables tables, Consumer<String> report) {
        this.metadata = metadata;
        this.tables = tables;
        this.report = report;
    }

    public void run(CheckProgress progress) throws IOException {
        Map<Long, int[]> references = recount(progress);
        compareCounts(references);
        checkCopies(references);
        StoredCopies stored = metadata.totals().stored();
        if (!stored.equals(recounted)) {
            report("the volume counts as stored " + stored + " and its counts have " + recounted);
        }
        long counted = metadata.totals().logicalBytes();
        if (counted != dataBytes) {
            report("the volume counts " + counted + " bytes of data and its files " + dataBytes);
        }
    }

    private void report(String problem) {
        report.accept(problem);
    }

    /** Returns the number of references in the recipes, by container and slot. */
    private Map<Long, int[]> recount(CheckProgress progress) throws IOException {
        Map<Long, int[]> references = new HashMap<>();
        long files = metadata.totals().files();
        long[] done = new long[1];
        metadata.namespace().forEachInode(inode -> {
            progress.at("references of files", done[0]++, files);
            recount(inode, references);
        });
        return references;
    }

    private void recount(Inode inode, Map<Long, int[]> references) throws IOException {
        int pageBytes = metadata.recipes().pageBytes();
        dataBytes += inode.dataBytes();
        long[] inRecipe = new long[1];
        metadata.recipes().forEachPage(inode.id(), 0, Long.MAX_VALUE, (number, page) -> {
            if (inode.links() > 0 && number * pageBytes + page.bytes() > inode.size() && !isOrphanTail(inode, number)) {
                report("the recipe of inode " + inode.id() + " continues past the end of the file, in page " + number);
            }
            count(page, references);
            inRecipe[0] += page.dataBytes();
        });
        if (inode.links() > 0 && inRecipe[0] != inode.dataBytes()) {
            report("inode " + inode.id() + " counts " + inode.dataBytes() + " bytes of data and its recipe has "
                    + inRecipe[0]);
        }
    }

    private boolean isOrphanTail(Inode inode, long page) throws IOException {
        return metadata.namespace().orphans().stream()
                .anyMatch(orphan -> orphan.inode() == inode.id() && orphan.fromPage() <= page);
    }

    private void count(RecipePage page, Map<Long, int[]> references) {
        for (int entry = 0; entry < page.count(); entry++) {
            if (!page.isZero(entry)) {
                long chunk = page.chunkId(entry);
                int slot = ChunkId.slot(chunk);
                int[] slots = references.computeIfAbsent(ChunkId.container(chunk), container -> new int[64]);
                if (slot >= slots.length) {
                    slots = Arrays.copyOf(slots, Math.max(slot + 1, slots.length * 2));
                    references.put(ChunkId.container(chunk), slots);
                }
                slots[slot]++;
                if (page.chunkOffset(entry) > 0) {
                    continuations.merge(chunk, 1, Integer::sum);
                }
            }
        }
    }

    private void compareCounts(Map<Long, int[]> references) throws IOException {
        Map<Long, int[]> uncounted = new HashMap<>(references);
        metadata.counts().forEachContainer((container, counts) -> {
            recounted = recounted.plus(StoredCopies.of(counts));
            checkLengths(container, counts);
            int[] slots = uncounted.remove(container);
            int known = slots == null ? 0 : slots.length;
            for (int slot = 0; slot < Math.max(counts.slots(), known); slot++) {
                int counted = slot < counts.slots() ? counts.count(slot) : 0;
                int referenced = slot < known && slots != null ? slots[slot] : 0;
                if (counted != referenced) {
                    report("chunk " + container + ":" + slot + " is counted " + counted + " times and referred to "
                            + referenced + " times");
                }
                int continued = slot < counts.slots() ? counts.continuations(slot) : 0;
                int found = continuations.getOrDefault(ChunkId.of(container, slot), 0);
                if (continued != found) {
                    report("chunk " + container + ":" + slot + " is counted " + continued
                            + " times from after its first byte and referred to that way " + found + " times");
                }
            }
        });
        uncounted.keySet().forEach(container -> report("container " + container + " is referred to and has no counts"));
    }

    /**
     * Checks that the chunks of a frame have the frame's total length, if all of them are counted, and otherwise no
     * more: a frame must have all chunks that are counted.
     */
    private void checkLengths(long container, ContainerCounts counts) {
        @Nullable FrameTable table;
        try {
            table = tables.of(container);
        } catch (IOException e) {
            // If something in it is referenced, checkCopies reports that it cannot be read.
            return;
        }
        if (table == null) {
            return;
        }
        for (int frame = 0; frame < table.frames(); frame++) {
            int end = table.firstSlot(frame) + table.slotCount(frame);
            boolean allAlive = true;
            long bytes = 0;
            for (int slot = table.firstSlot(frame); slot < end; slot++) {
                allAlive &= counts.isAlive(slot);
                bytes += counts.isAlive(slot) ? counts.length(slot) : 0;
            }
            if (bytes > table.rawLength(frame) || allAlive && bytes != table.rawLength(frame)) {
                report("frame " + frame + " of container " + container + " has " + table.rawLength(frame)
                        + " bytes of chunks and its counts say " + bytes);
            }
        }
    }

    private void checkCopies(Map<Long, int[]> references) {
        references.forEach((container, slots) -> {
            try {
                FrameTable table = tables.of(container);
                if (table == null) {
                    return;
                }
                for (int slot = table.slots(); slot < slots.length; slot++) {
                    if (slots[slot] > 0) {
                        report("chunk " + container + ":" + slot
                                + " is referred to and not in its container, which has " + table.slots() + " chunks");
                    }
                }
            } catch (IOException e) {
                report("container " + container + " is referred to and cannot be read: " + e.getMessage());
            }
        });
    }
}
