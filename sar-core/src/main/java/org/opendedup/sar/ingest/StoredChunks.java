package org.opendedup.sar.ingest;

import java.io.IOException;
import org.opendedup.sar.metadata.recipes.RecipeStore;
import org.opendedup.sar.metadata.record.RecipePage;

/**
 * Finds in a file's present recipe where its stored chunks begin, and which bytes are in no chunk: holes and zero runs.
 */
record StoredChunks(RecipeStore recipes, long inode) {
    private RecipePage page(long number) throws IOException {
        return recipes.page(inode, number);
    }

    private int pageBytes() {
        return recipes.pageBytes();
    }

    boolean isHole(long offset) throws IOException {
        RecipePage page = page(offset / pageBytes());
        int entry = page.entryAt((int) (offset % pageBytes()));
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
        RecipePage page = page(from / pageBytes());
        long pageStart = from - from % pageBytes();
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
    long nextHole(long from, long to) throws IOException {
        for (long number = from / pageBytes(); number * pageBytes() < to; number++) {
            RecipePage page = page(number);
            long pageStart = number * pageBytes();
            int entry = page.entryAt((int) (Math.max(from, pageStart) - pageStart));
            while (entry < page.count() && !page.isZero(entry)) {
                entry++;
            }
            long hole = pageStart + (entry < page.count() ? page.start(entry) : page.bytes());
            if (hole < pageStart + pageBytes()) {
                return Math.min(to, Math.max(from, hole));
            }
        }
        return to;
    }

    /**
     * Returns the file offset where the stored chunk begins that holds the byte at {@code offset}; {@code otherwise} if
     * the byte is in a hole or a zero run.
     */
    long chunkStart(long offset, long otherwise) throws IOException {
        long pageNumber = offset / pageBytes();
        RecipePage page = page(pageNumber);
        int entry = page.entryAt((int) (offset % pageBytes()));
        if (entry == page.count() || page.isZero(entry)) {
            return otherwise;
        }
        long start = pageNumber * pageBytes() + page.start(entry);
        if (entry > 0 || page.chunkOffset(entry) == 0 || pageNumber == 0) {
            return start;
        }
        RecipePage before = page(pageNumber - 1);
        int last = before.count() - 1;
        boolean continues = before.bytes() == pageBytes()
                && before.chunkId(last) == page.chunkId(entry)
                && before.chunkOffset(last) + before.length(last) == page.chunkOffset(entry);
        return continues ? start - before.length(last) : start;
    }

    /** Returns whether the byte at {@code offset} is the first of a chunk, or in no chunk. */
    boolean isBoundary(long offset) throws IOException {
        RecipePage page = page(offset / pageBytes());
        int at = (int) (offset % pageBytes());
        int entry = page.entryAt(at);
        return entry == page.count() || page.isZero(entry) || page.start(entry) == at && page.chunkOffset(entry) == 0;
    }
}
