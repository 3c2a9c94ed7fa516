package org.opendedup.sar.hot.promotion;

import java.io.IOException;
import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.recipes.RecipeStore;
import org.opendedup.sar.metadata.record.RecipePage;

/**
 * Measures the runs of the chunks in a range of a file. Runs are those of the file: the recipe shows how they continue
 * beyond the ends of the range. A run is a sequence of chunks that are neighbours both in the file and in their
 * container, so that the disk reads them in one request (SAR paper §3.4: nonsequential by length and address). Zeros
 * between chunks do not end a run. A recipe page without a chunk does: a reader reaches the other side of it later.
 * Each chunk counts once in a run, from its first byte to the last one used. Reused for the next range. For use by one
 * thread. {@link Runs} measures the runs of one request.
 */
public final class FileRuns {
    /** Returned for a chunk whose run may continue after the range. */
    public static final long UNFINISHED = -1;

    /**
     * Recipe pages without a new chunk after which a run is not followed further: it repeats one chunk, and gets no
     * longer.
     */
    private static final int MAX_REPEATED_PAGES = 64;

    private final RecipeStore recipes;
    private final int pageBytes;

    private int count;
    private long[] chunkIds = new long[64];
    /** Bytes used of each chunk, from its first byte on. */
    private int[] needs = new int[64];
    /** Numbers of the recipe pages in which each chunk begins and ends. */
    private long[] firstPages = new long[64];

    private long[] lastPages = new long[64];
    private long[] runBytes = new long[64];

    public FileRuns(RecipeStore recipes) {
        this.recipes = recipes;
        pageBytes = recipes.pageBytes();
    }

    /** Removes all chunks. */
    public void clear() {
        count = 0;
    }

    /** Adds the next chunk in file order: {@code length} bytes of it from {@code chunkOffset} on. */
    public void add(long fileOffset, long chunkId, int chunkOffset, int length) {
        if (count == chunkIds.length) {
            int chunks = 2 * count;
            chunkIds = Arrays.copyOf(chunkIds, chunks);
            needs = Arrays.copyOf(needs, chunks);
            firstPages = Arrays.copyOf(firstPages, chunks);
            lastPages = Arrays.copyOf(lastPages, chunks);
            runBytes = Arrays.copyOf(runBytes, chunks);
        }
        chunkIds[count] = chunkId;
        needs[count] = chunkOffset + length;
        firstPages[count] = fileOffset / pageBytes;
        lastPages[count] = (fileOffset + length - 1) / pageBytes;
        count++;
    }

    /** Returns the number of chunks added. */
    public int count() {
        return count;
    }

    /** Returns the bytes of the run of chunk number {@code i}, or {@link #UNFINISHED}. Valid after {@link #measure}. */
    public long runBytes(int i) {
        return runBytes[i];
    }

    /**
     * Measures the runs of all chunks that were added.
     *
     * @param from start of the range in the file; earlier recipe entries may belong to the first run
     * @param to end of the range; later recipe entries may belong to the last run
     * @param open whether the recipe does not yet contain what follows the range
     * @param enough run length, in bytes, from which a run need not be measured to its ends
     */
    public void measure(long inode, long from, long to, boolean open, long enough) throws IOException {
        for (int start = 0; start < count; ) {
            int end = start + 1;
            while (end < count && continues(end)) {
                end++;
            }
            Run run = new Run();
            if (start == 0) {
                before(inode, from, enough, run);
            }
            for (int i = start; i < end; i++) {
                run.add(chunkIds[i], needs[i]);
            }
            if (end == count && run.bytes < enough && !open) {
                after(inode, to, lastPages[end - 1], run, enough);
            }
            boolean unfinished = end == count && open && run.bytes < enough;
            Arrays.fill(runBytes, start, end, unfinished ? UNFINISHED : run.bytes);
            start = end;
        }
    }

    private boolean continues(int i) {
        return firstPages[i] - lastPages[i - 1] <= 1 && isNext(chunkIds[i - 1], chunkIds[i]);
    }

    /** Returns whether a chunk is the previous one again, or its next neighbour in the container. */
    private static boolean isNext(long before, long chunkId) {
        return chunkId == before || chunkId == before + 1 && ChunkId.container(chunkId) == ChunkId.container(before);
    }

    /** A run that is measured in file order. */
    private static final class Run {
        long bytes;
        long last = ChunkId.NONE;
        /** Bytes of the last chunk that are already counted. */
        int lastNeed;

        void add(long chunkId, int need) {
            int counted = chunkId == last ? lastNeed : 0;
            bytes += Math.max(0, need - counted);
            lastNeed = Math.max(need, counted);
            last = chunkId;
        }
    }

    /** Adds the part of the first chunk's run that lies ahead of the range: collected backwards, counted forwards. */
    private void before(long inode, long from, long enough, Run run) throws IOException {
        long[] ids = new long[16];
        int[] wanted = new int[16];
        int found = 0;
        long bytes = 0;
        long next = chunkIds[0];
        long newest = firstPages[0];
        // Pages in between have no chunk.
        long offset = newest - (from - 1) / pageBytes > 1 ? 0 : from;
        walk:
        while (offset > 0 && bytes < enough) {
            long number = (offset - 1) / pageBytes;
            RecipePage page = recipes.page(inode, number);
            if (page.count() == 0 || newest - number > MAX_REPEATED_PAGES) {
                break;
            }
            for (int entry = lastEntry(page, offset - number * pageBytes); entry >= 0; entry--) {
                if (page.isZero(entry)) {
                    continue;
                }
                long chunkId = page.chunkId(entry);
                if (!isNext(chunkId, next)) {
                    break walk;
                }
                int need = page.chunkOffset(entry) + page.length(entry);
                if (found > 0 && chunkId == next) {
                    bytes += Math.max(0, need - wanted[found - 1]);
                    wanted[found - 1] = Math.max(need, wanted[found - 1]);
                    continue;
                }
                if (found == ids.length) {
                    ids = Arrays.copyOf(ids, 2 * found);
                    wanted = Arrays.copyOf(wanted, 2 * found);
                }
                ids[found] = chunkId;
                wanted[found++] = need;
                bytes += need;
                next = chunkId;
                newest = number;
            }
            offset = number * pageBytes;
        }
        while (found > 0) {
            found--;
            run.add(ids[found], wanted[found]);
        }
    }

    /** Returns the last entry that begins at a lower offset in the page. */
    private static int lastEntry(RecipePage page, long offset) {
        return Math.min(page.count() - 1, page.entryAt((int) offset - 1));
    }

    /** Adds the part of the last chunk's run that lies after the range. */
    private void after(long inode, long to, long lastPage, Run run, long enough) throws IOException {
        long newest = lastPage;
        if (to / pageBytes - lastPage > 1) {
            // Pages in between have no chunk.
            return;
        }
        for (long number = to / pageBytes; run.bytes < enough; number++) {
            RecipePage page = recipes.page(inode, number);
            if (page.count() == 0 && number > lastPage || number - newest > MAX_REPEATED_PAGES) {
                return;
            }
            int entry = number == to / pageBytes ? page.entryAt((int) (to % pageBytes)) : 0;
            for (; entry < page.count(); entry++) {
                if (page.isZero(entry)) {
                    continue;
                }
                long chunkId = page.chunkId(entry);
                if (!isNext(run.last, chunkId)) {
                    return;
                }
                newest = chunkId == run.last ? newest : number;
                run.add(chunkId, page.chunkOffset(entry) + page.length(entry));
            }
        }
    }
}
