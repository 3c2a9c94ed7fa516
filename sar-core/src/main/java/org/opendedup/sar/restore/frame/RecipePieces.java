package org.opendedup.sar.restore.frame;

import java.io.IOException;
import org.opendedup.sar.metadata.recipes.RecipeStore;
import org.opendedup.sar.metadata.record.RecipePage;

/**
 * A range of a file as its recipe describes it, piece by piece: parts of chunks, and runs of zeros. Holes, and bytes
 * after the end of the recipe, are runs of zeros as well. A page border ends a piece. For one thread.
 */
public final class RecipePieces {
    private final RecipeStore recipes;
    private final int pageBytes;
    private final long inode;
    private final long to;

    /** File offset at which the next piece begins. */
    private long next;

    private RecipePage page = RecipePage.EMPTY;
    /** File offset at which the page begins. */
    private long pageOffset = -1;
    /**
     * Index of the current entry of the page; the index after the last entry stands for zeros up to the end of the
     * page.
     */
    private int entry;
    /** Offset in the page at which the piece begins. */
    private int start;

    private int length;

    /** Covers bytes {@code from} to {@code to} (exclusive) of a file. */
    public RecipePieces(RecipeStore recipes, long inode, long from, long to) {
        this.recipes = recipes;
        pageBytes = recipes.pageBytes();
        this.inode = inode;
        this.to = to;
        next = from;
    }

    /** Moves to the next piece, or the first one; false if there is none. */
    public boolean next() throws IOException {
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

    /** Length of this piece, in bytes. */
    public int length() {
        return length;
    }

    public boolean isZero() {
        return entry >= page.count() || page.isZero(entry);
    }

    public long chunkId() {
        return page.chunkId(entry);
    }

    /** First four bytes of the chunk's fingerprint. */
    public int fingerprintPrefix() {
        return page.fingerprintPrefix(entry);
    }

    /** Offset in its chunk at which the piece begins. */
    public int chunkOffset() {
        return page.chunkOffset(entry) + start - page.start(entry);
    }

    /** File offset at which the recipe's reference begins that this piece belongs to. */
    public long referenceOffset() {
        return pageOffset + page.start(entry);
    }
}
