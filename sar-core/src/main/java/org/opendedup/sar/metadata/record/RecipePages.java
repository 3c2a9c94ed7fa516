package org.opendedup.sar.metadata.record;

import java.io.IOException;
import org.opendedup.sar.metadata.recipes.RecipeStore;
import org.opendedup.sar.metadata.recipes.StreamLogs;

/**
 * Recipes in pages, as a reader follows them: those of files ({@link RecipeStore}), or those of the streams that a
 * volume of chunks has written ({@link StreamLogs}). Safe for use by many threads.
 */
public interface RecipePages {
    /** Returns the bytes that one page describes at most: a power of two. */
    int pageBytes();

    /** Returns a page of a recipe; {@link RecipePage#EMPTY} if it has none with this number. */
    RecipePage page(long recipe, long page) throws IOException;

    /**
     * Returns the numbers of the first {@code max} pages from {@code from} (inclusive) to {@code to} (exclusive) that
     * exist, in order.
     */
    long[] existingPages(long recipe, long from, long to, int max) throws IOException;

    /** Heap bytes that are held for the reader that follows the recipe, to be charged to it. */
    default long tableBytes() {
        return 0;
    }
}
