package org.opendedup.sar.restore.tree;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.stream.LongStream;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.RecipePages;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files that a {@link TreeWalk} names, one after the other, as one recipe: so whatever follows the recipe of a file
 * follows a tree. Of a longer file only the beginning: its own reader is read ahead from there on. Files are looked up
 * when the recipe is followed. Pages can be read again up to one before the last {@link #existingPages}. For one thread
 * at a time.
 */
public final class TreeRecipe implements RecipePages {
    private static final Logger log = LoggerFactory.getLogger(TreeRecipe.class);

    /** Bytes of each file that are in the recipe, rounded up to a page: after as many, a file is read ahead itself. */
    private static final int FILE_BYTES = 256 << 10;
    /** Pages looked up at once: a batch that begins waits for these. */
    private static final int PAGES = 8;
    /**
     * Files without bytes that could be read, one after the other, at which the recipe ends: a batch waits for what
     * comes next.
     */
    private static final int MOST_EMPTY = 1024;
    /** Heap bytes of a file that is known, with its places in the maps and queues of its reader: 110 to 150. */
    private static final int FILE_HEAP_BYTES = 136;

    private final RecipePages recipes;
    private final TreeWalk walk;
    private final KnownFiles known;
    private final RecipePage.Builder building = new RecipePage.Builder();
    private final Deque<RecipePage> pages = new ArrayDeque<>();
    /** Number of the first page in {@link #pages}. */
    private long firstPage;
    /** Bytes of all files so far. */
    private long bytes;

    /** Number of files since {@link #bytes} grew. */
    private int empty;

    private boolean ended;

    /** The files of the recipe that its reader has not passed. */
    public interface KnownFiles {
        /**
         * Adds the next file.
         *
         * @param start offset in the recipe at which the file begins
         * @param length bytes of the file that are in the recipe
         */
        void add(long inode, long start, int length);

        /** Whether a file was added, and not passed. */
        boolean contains(long inode);

        int count();
    }

    /** @param recipes the files' own recipes */
    public TreeRecipe(RecipePages recipes, TreeWalk walk, KnownFiles known) {
        this.recipes = recipes;
        this.walk = walk;
        this.known = known;
    }

    @Override
    public int pageBytes() {
        return recipes.pageBytes();
    }

    @Override
    public RecipePage page(long recipe, long page) {
        look(page + 1);
        long at = page - firstPage;
        return at < 0 || at >= pages.size()
                ? RecipePage.EMPTY
                : pages.stream().skip(at).findFirst().orElse(RecipePage.EMPTY);
    }

    @Override
    public long[] existingPages(long recipe, long from, long to, int max) {
        while (firstPage < from - 1 && !pages.isEmpty()) {
            pages.remove();
            firstPage++;
        }
        look(Math.min(to, from + Math.min(max, PAGES)));
        return LongStream.range(from, Math.min(to, firstPage + pages.size())).toArray();
    }

    @Override
    public long tableBytes() {
        return (long) known.count() * FILE_HEAP_BYTES + walk.heapBytes();
    }

    /** Looks up files until all pages below {@code end} are known. */
    private void look(long end) {
        while (!ended && firstPage + pages.size() < end) {
            try {
                long inode = walk.next();
                if (inode == 0 || empty > MOST_EMPTY) {
                    ended = true;
                } else if (!known.contains(inode)) {
                    // Another link of a file that is known would have two places.
                    tryAdd(inode);
                }
            } catch (IOException e) {
                log.debug("a tree can't be followed; the reader gets the error when it reads there", e);
                ended = true;
            }
            if (ended && building.bytes() > 0) {
                pages.add(building.build());
            }
        }
    }

    private void tryAdd(long inode) {
        long before = bytes;
        try {
            add(inode);
        } catch (IOException e) {
            log.debug("inode {} can't be read ahead; the reader gets the error when it reads it", inode, e);
        }
        empty = bytes > before ? 0 : empty + 1;
    }

    private void add(long inode) throws IOException {
        long start = bytes;
        RecipePage page = recipes.page(inode, 0);
        for (int number = 0; page.bytes() > 0; page = recipes.page(inode, number)) {
            number++;
            boolean isLast = (long) number * pageBytes() >= FILE_BYTES || page.bytes() < pageBytes();
            add(page);
            if (isLast) {
                break;
            }
        }
        if (bytes > start) {
            known.add(inode, start, (int) (bytes - start));
        }
    }

    private void add(RecipePage page) {
        int from = 0;
        while (from < page.bytes()) {
            int to = Math.min(page.bytes(), from + pageBytes() - building.bytes());
            building.addRange(page, from, to);
            bytes += to - from;
            from = to;
            if (building.bytes() == pageBytes()) {
                pages.add(building.build());
            }
        }
    }
}
