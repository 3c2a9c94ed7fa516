package org.opendedup.sar.volume;

import java.io.IOException;
import org.opendedup.sar.metadata.RecipePage;
import org.opendedup.sar.metadata.RecipeStore;

/** Iterates over the chunk references of a file. */
record RecipeWalk(RecipeStore recipes) {
    /** Number of pages read at a time. Limited, so that no database cursor stays open while a visitor works. */
    private static final int PAGES = 64;

    /** See {@link VolumeMaintenance#forEachReference}. */
    long walk(long inode, long size, ReferenceVisitor visitor) throws IOException {
        int pageBytes = recipes.pageBytes();
        long bytes = 0;
        long end = (size + pageBytes - 1) / pageBytes;
        for (long next = 0; next < end; ) {
            long[] pages = recipes.existingPages(inode, next, end, PAGES);
            if (pages.length == 0) {
                break;
            }
            for (long page : pages) {
                bytes += visit(recipes.page(inode, page), page * pageBytes, size, visitor);
            }
            next = pages[pages.length - 1] + 1;
        }
        return bytes;
    }

    private static long visit(RecipePage page, long pageStart, long size, ReferenceVisitor visitor) throws IOException {
        long bytes = 0;
        for (int entry = 0; entry < page.count(); entry++) {
            long offset = pageStart + page.start(entry);
            int length = (int) Math.min(page.length(entry), size - offset);
            if (!page.isZero(entry) && length > 0) {
                visitor.visit(
                        offset, page.chunkId(entry), page.chunkOffset(entry), length, page.fingerprintPrefix(entry));
                bytes += length;
            }
        }
        return bytes;
    }
}
