package org.opendedup.sar.volume;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.FrameTable;
import org.opendedup.sar.metadata.Inode;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.RecipePage;

/**
 * Checks that a volume's two truths agree: every reference of every recipe is counted, nothing else is, and every copy that
 * is referred to lies in a container. Reads no chunk data. Holds one long and one int a referenced chunk in memory.
 */
public final class VolumeChecker {
    /** Problems reported; the rest is only counted. */
    private static final int MAX_REPORTED = 100;

    private final VolumeParts parts;
    private final MetadataStore metadata;
    private final List<String> problems = new ArrayList<>();
    private long unreported;
    /** Bytes of all files that chunks give, as their inodes say. */
    private long dataBytes;

    private VolumeChecker(VolumeParts parts) {
        this.parts = parts;
        this.metadata = parts.metadata();
    }

    /**
     * Checks an open volume; changes wait meanwhile.
     *
     * @return the problems found, each in a sentence; empty if there is none
     */
    public static List<String> check(Volume volume) throws IOException {
        return new VolumeChecker(volume.parts()).check();
    }

    private List<String> check() throws IOException {
        Lock changes = parts.committer().exclusive();
        changes.lock();
        try {
            // Files that no commit has seen yet have pages and counts already; now they have records too.
            parts.nodes().evict(parts.nodes().encodeDirty());
            Map<Long, int[]> references = recount();
            compareCounts(references);
            checkCopies(references);
            long counted = metadata.totals().logicalBytes();
            if (counted != dataBytes) {
                report("the volume counts " + counted + " bytes of data and its files " + dataBytes);
            }
        } finally {
            changes.unlock();
        }
        if (unreported > 0) {
            problems.add("and " + unreported + " more problems");
        }
        return problems;
    }

    private void report(String problem) {
        if (problems.size() < MAX_REPORTED) {
            problems.add(problem);
        } else {
            unreported++;
        }
    }

    /** References by container and slot, as the recipes have them. */
    private Map<Long, int[]> recount() throws IOException {
        Map<Long, int[]> references = new HashMap<>();
        metadata.namespace().forEachInode(inode -> recount(inode, references));
        return references;
    }

    private void recount(Inode inode, Map<Long, int[]> references) throws IOException {
        int pageBytes = metadata.header().pageBytes();
        dataBytes += inode.dataBytes();
        long[] inRecipe = new long[1];
        metadata.recipes().forEachPage(inode.id(), 0, Long.MAX_VALUE, (number, page) -> {
            if (inode.links() > 0 && number * pageBytes + page.bytes() > inode.size() && !isOrphanTail(inode, number)) {
                report("the recipe of inode " + inode.id() + " goes on behind the file's end, in page " + number);
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

    private static void count(RecipePage page, Map<Long, int[]> references) {
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
            }
        }
    }

    private void compareCounts(Map<Long, int[]> references) throws IOException {
        Map<Long, int[]> uncounted = new HashMap<>(references);
        metadata.counts().forEachContainer((container, counts) -> {
            int[] slots = uncounted.remove(container);
            int known = slots == null ? 0 : slots.length;
            for (int slot = 0; slot < Math.max(counts.slots(), known); slot++) {
                int counted = slot < counts.slots() ? counts.count(slot) : 0;
                int referenced = slot < known && slots != null ? slots[slot] : 0;
                if (counted != referenced) {
                    report("chunk " + container + ":" + slot + " is counted " + counted + " times and referred to "
                            + referenced + " times");
                }
            }
        });
        uncounted.keySet().forEach(container -> report("container " + container + " is referred to and has no counts"));
    }

    private void checkCopies(Map<Long, int[]> references) {
        references.forEach((container, slots) -> {
            try {
                FrameTable table = parts.containers().frameTable(container);
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
