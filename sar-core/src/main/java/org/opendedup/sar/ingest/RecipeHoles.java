package org.opendedup.sar.ingest;

import java.io.IOException;
import org.opendedup.sar.metadata.RecipePage;
import org.opendedup.sar.metadata.RecipeStore;

/** Finds holes and zero runs in a file's recipe: bytes that are in no chunk. */
record RecipeHoles(RecipeStore recipes, long inode, int pageBytes) {
    private RecipePage page(long number) throws IOException {
        return recipes.page(inode, number);
    }

    boolean isHole(long offset) throws IOException {
        RecipePage page = page(offset / pageBytes);
        int entry = page.entryAt((int) (offset % pageBytes));
        return entry == page.count() || page.isZero(entry);
    }

    /**
     * Returns the first offset at or after {@code from} from which chunks contain all bytes up to {@code to}; both lie
     * in one page.
     */
    long dataStart(long from, long to) throws IOException {
        if (from == to) {
            return to;
        }
        RecipePage page = page(from / pageBytes);
        long pageStart = from - from % pageBytes;
        long start = to;
        for (int entry = page.entryAt((int) (to - 1 - pageStart)); entry < page.count() && start > from; entry--) {
            if (page.isZero(entry)) {
                break;
            }
            start = Math.max(from, pageStart + page.start(entry));
        }
        return start;
    }

    /**
     * Returns the offset of the first byte from {@code from} to {@code to} that is in no chunk; {@code to} if there is
     * none.
     */
    long first(long from, long to) throws IOException {
        for (long number = from / pageBytes; number * pageBytes < to; number++) {
            RecipePage page = page(number);
            long pageStart = number * pageBytes;
            int entry = page.entryAt((int) (Math.max(from, pageStart) - pageStart));
            while (entry < page.count() && !page.isZero(entry)) {
                entry++;
            }
            long hole = pageStart + (entry < page.count() ? page.start(entry) : page.bytes());
            if (hole < pageStart + pageBytes) {
                return Math.min(to, Math.max(from, hole));
            }
        }
        return to;
    }
}
