package org.opendedup.sar.restore.fragmentation;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.container.format.LocatedTable;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.hot.promotion.FrameTables;
import org.opendedup.sar.metadata.recipes.RecipeStore;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.restore.frame.StopCheck;

/**
 * Measures how fragmented a file is, from its recipe, the frame tables and the containers' places alone. Memory is
 * bounded: a file that wants more than {@value #MAX_CONTAINERS} containers is analyzed in parts; a container that
 * several parts want counts in each, and so does a disk request. For one use, by one thread.
 */
public final class FragmentationAnalyzer {
    /**
     * Most containers of a part: 128 GiB of a file that is not fragmented. About 200 bytes each with chunks of 8 KiB,
     * so a few MiB, as {@link DiskRanges}.
     */
    private static final int MAX_CONTAINERS = 1 << 15;
    /** Pages read at a time, so that no database cursor stays open for a long time. */
    private static final int PAGES = 64;

    private final RecipeStore recipes;
    private final int pageBytes;
    private final FrameTables tables;
    private final DiskModel disk;
    private final long windowBytes;
    private final long batchBytes;

    private final Map<Long, ContainerUse> uses = new HashMap<>();
    private final DiskRanges reads;
    /** Table of the last reference: the next one usually wants the same container. */
    private @Nullable LocatedTable lastTable;

    private long lastContainer;
    private long bytes;
    private long references;
    private long uniqueBytes;
    private double storedBytes;
    private long containers;
    private double useSum;
    private long containerReads;
    private final List<SparseContainer> sparse = new ArrayList<>();

    /**
     * @param windowBytes bytes of the file over which a reader keeps data in memory: a container that is wanted again
     *     later is read again
     * @param batchBytes bytes of the file that the reader reads at a time, in the order of the disk
     */
    public FragmentationAnalyzer(
            RecipeStore recipes, FrameTables tables, DiskModel disk, long windowBytes, long batchBytes) {
        this.recipes = recipes;
        pageBytes = recipes.pageBytes();
        this.tables = tables;
        this.disk = disk;
        this.windowBytes = windowBytes;
        this.batchBytes = batchBytes;
        reads = new DiskRanges(disk.gapBytes());
    }

    /** Analyzes the file's current recipe, unless {@code stop} ends it. */
    public FileFragmentation analyze(long inode, StopCheck stop) throws IOException {
        for (long next = 0; ; ) {
            long[] pages = recipes.existingPages(inode, next, Long.MAX_VALUE, PAGES);
            if (pages.length == 0) {
                break;
            }
            stop.check();
            next = pages[pages.length - 1] + 1;
            recipes.forEachPage(inode, pages[0], next, this::add);
        }
        endPart();
        return new FileFragmentation(
                bytes,
                references,
                uniqueBytes,
                Math.round(storedBytes),
                containers,
                containers == 0 ? 0 : useSum / containers,
                sparse.size(),
                containerReads,
                reads.requests(),
                reads.bytes());
    }

    /** Returns the sparse containers, in no particular order. */
    public List<SparseContainer> sparseContainers() {
        return sparse;
    }

    private void add(long page, RecipePage recipe) throws IOException {
        for (int entry = 0; entry < recipe.count(); entry++) {
            if (!recipe.isZero(entry)) {
                add(recipe, entry, page * pageBytes + recipe.start(entry));
            }
        }
    }

    private void add(RecipePage recipe, int entry, long fileOffset) throws IOException {
        long container = ChunkId.container(recipe.chunkId(entry));
        int slot = ChunkId.slot(recipe.chunkId(entry));
        int length = recipe.length(entry);
        // What is read again after a window is read by another batch, even if the bytes between are a hole.
        long batch = bytes / batchBytes + fileOffset / windowBytes;
        bytes += length;
        references++;
        if (uses.size() == MAX_CONTAINERS && !uses.containsKey(container)) {
            endPart();
        }
        ContainerUse use = uses.computeIfAbsent(container, id -> new ContainerUse());
        if (container != lastContainer || lastTable == null) {
            lastContainer = container;
            lastTable = tables.of(container);
        }
        if (use.isForgotten(fileOffset, windowBytes)) {
            read(use, lastTable);
        }
        use.want(slot, lastTable.table().frameOf(slot), recipe.chunkOffset(entry), length, fileOffset, batch);
    }

    private void endPart() throws IOException {
        // Neighbours in a pack have near ids: so they are counted together also when there are too many ranges.
        for (Map.Entry<Long, ContainerUse> entry : new TreeMap<>(uses).entrySet()) {
            LocatedTable located = tables.of(entry.getKey());
            FrameTable table = located.table();
            ContainerUse use = entry.getValue();
            read(use, located);
            double share = share(use, table);
            containers++;
            useSum += share;
            if (share < FileFragmentation.SPARSE_USE) {
                sparse.add(new SparseContainer(entry.getKey(), use.wantedBytes(), share));
            }
            uniqueBytes += use.wantedBytes();
            storedBytes += share * fileBytes(table);
        }
        uses.clear();
        reads.count();
    }

    private void read(ContainerUse use, LocatedTable at) {
        containerReads += use.read(at, disk.gapBytes(), reads) ? 1 : 0;
    }

    private static double share(ContainerUse use, FrameTable table) {
        long rawBytes = 0;
        for (int frame = 0; frame < table.frames(); frame++) {
            rawBytes += table.rawLength(frame);
        }
        return Math.min(1, (double) use.wantedBytes() / Math.max(1, rawBytes));
    }

    private static long fileBytes(FrameTable table) {
        long bytes = 0;
        for (int frame = 0; frame < table.frames(); frame++) {
            bytes += table.fileLength(frame);
        }
        return bytes;
    }
}
