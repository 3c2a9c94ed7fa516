package org.opendedup.sar.restore;

import java.io.IOException;
import org.opendedup.sar.metadata.RecipePage;
import org.opendedup.sar.metadata.RecipeStore;

/**
 * A range of a file as its recipe describes it, piece by piece: parts of chunks, and runs of zeros, which are holes and what lies
 * behind the recipe as well. A page border ends a piece. For one thread.
 */
final class RecipePieces {
    private final RecipeStore recipes;
    private final int pageBytes;
    private final long inode;
    private final long to;

    /** Where the next piece begins. */
    private long next;

    private RecipePage page = RecipePage.EMPTY;
    /** Where the page begins in the file. */
    private long pageOffset = -1;
    /** Of the page; the one behind its last entry is zeros up to its end. */
    private int entry;
    /** Where the piece begins in the page. */
    private int start;

    private int length;

    /** Bytes {@code from} to {@code to} of a file. */
    RecipePieces(RecipeStore recipes, int pageBytes, long inode, long from, long to) {
        this.recipes = recipes;
        this.pageBytes = pageBytes;
        this.inode = inode;
        this.to = to;
        next = from;
    }

    /** Goes to the next piece, or the first one; false if there is none. */
    boolean next() throws IOException {
        if (next >= to) {
            return false;
        }
        start = (int) (next % pageBytes);
        if (next - start == pageOffset) {
            entry++;
        } else {
            pageOffset = next - start;
            page = recipes.page(inode, next / pageBytes);
            entry = page.entryAt(start);
        }
        int end = entry < page.count() ? page.end(entry) : pageBytes;
        length = (int) Math.min(end - start, to - next);
        next += length;
        return true;
    }

    /** Bytes of this piece. */
    int length() {
        return length;
    }

    boolean isZero() {
        return entry >= page.count() || page.isZero(entry);
    }

    long chunkId() {
        return page.chunkId(entry);
    }

    /** First bytes of the chunk's fingerprint. */
    int check() {
        return page.check(entry);
    }

    /** Where in its chunk the piece begins. */
    int chunkOffset() {
        return page.chunkOffset(entry) + start - page.start(entry);
    }

    /** Where in the file the recipe's reference begins that this piece is of. */
    long referenceOffset() {
        return pageOffset + page.start(entry);
    }
}
