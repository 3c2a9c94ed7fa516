package org.opendedup.sar.restore.lookahead;

import java.io.IOException;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.RecipePages;

/**
 * Iterates over a file's references to chunks, in the order of the file; skips holes and zeros. Unlike
 * {@code RecipePieces}, it has no fixed end: after it has reached the end of the file, the next call looks there again,
 * because the file may have grown. For one thread at a time.
 */
final class RecipeCursor {
    /** Pages looked up at once: 128 MiB of a file without holes, whose recipe a disk reads at once as well. */
    private static final int PAGES = 512;

    private final RecipePages recipes;
    private final long inode;
    private final int pageBytes;

    private long[] pages = {};
    private int pageIndex;
    private long nextPage;
    private RecipePage page = RecipePage.EMPTY;
    private long pageOffset;
    private int entry;
    /** File offset at which the last returned reference ends. */
    private long passed;

    private boolean atEnd;

    /** Starts ahead of the first reference that ends after byte {@code from} of the file. */
    RecipeCursor(RecipePages recipes, long inode, long from) throws IOException {
        this.recipes = recipes;
        pageBytes = recipes.pageBytes();
        this.inode = inode;
        passed = from;
        goBack();
    }

    /** Repositions to the first reference after {@link #passed}, by the current recipe. */
    private void goBack() throws IOException {
        pages = new long[0];
        pageIndex = 0;
        nextPage = passed / pageBytes + 1;
        page = recipes.page(inode, passed / pageBytes);
        pageOffset = passed / pageBytes * pageBytes;
        entry = page.entryAt((int) (passed % pageBytes)) - 1;
    }

    /** Moves to the next reference that begins below byte {@code end} of the file; false if there is none now. */
    boolean next(long end) throws IOException {
        if (atEnd) {
            goBack();
        }
        atEnd = !find(end);
        if (!atEnd) {
            passed = offset() + length();
        }
        return !atEnd;
    }

    private boolean find(long end) throws IOException {
        do {
            while (++entry < page.count()) {
                if (!page.isZero(entry)) {
                    return offset() < end;
                }
            }
        } while (nextPage(end));
        return false;
    }

    private boolean nextPage(long end) throws IOException {
        long endPage = (end + pageBytes - 1) / pageBytes;
        if (pageIndex == pages.length) {
            if (nextPage >= endPage) {
                return false;
            }
            pages = recipes.existingPages(inode, nextPage, endPage, PAGES);
            pageIndex = 0;
            if (pages.length == 0) {
                return false;
            }
        }
        long number = pages[pageIndex++];
        nextPage = number + 1;
        page = recipes.page(inode, number);
        pageOffset = number * pageBytes;
        entry = -1;
        return true;
    }

    /** Heap bytes that are held for whoever follows this recipe. */
    long tableBytes() {
        return recipes.tableBytes();
    }

    /** File offset at which the reference begins. */
    long offset() {
        return pageOffset + page.start(entry);
    }

    /** Bytes of the file that the reference stands for. */
    int length() {
        return page.length(entry);
    }

    long chunkId() {
        return page.chunkId(entry);
    }

    /** Bytes that the reference needs of its chunk, from the first byte of the chunk on. */
    int neededBytes() {
        return page.chunkOffset(entry) + length();
    }

    /** First four bytes of the chunk's fingerprint. */
    int fingerprintPrefix() {
        return page.fingerprintPrefix(entry);
    }
}
