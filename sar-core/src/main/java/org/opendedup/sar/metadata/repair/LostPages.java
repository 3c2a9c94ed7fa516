package org.opendedup.sar.metadata.repair;

import java.io.IOException;
import java.util.Arrays;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.RecipeFormat;
import org.opendedup.sar.metadata.record.RecipePage;

/**
 * The pages of recipes that a damaged database may have lost. A missing page would read as zeros, which is what a hole
 * is. So each becomes a reference to a chunk that no container has: reading it is an error, and a check names the file
 * and the range.
 */
final class LostPages {
    /** A page of a recipe that may be lost. */
    @FunctionalInterface
    interface Visitor {
        /** Returns whether to go on. */
        boolean visit(long page) throws IOException;
    }

    private LostPages() {}

    /**
     * Visits the pages below {@code end} that are missing where records are lost.
     *
     * @param end number of the first page that the file does not have
     */
    static void forEach(KeyValueStore database, LostRecords lost, long inode, long end, Visitor visitor)
            throws IOException {
        for (LostRecords.Range range : lost.from(Family.RECIPE, Keys.of(inode))) {
            if (range.first() > inode) {
                return;
            }
            if (range.last() >= inode && !forEach(database, range, inode, end, visitor)) {
                return;
            }
        }
    }

    private static boolean forEach(
            KeyValueStore database, LostRecords.Range range, long inode, long end, Visitor visitor) throws IOException {
        boolean beginsWithin = range.first() == inode && range.after().length >= 2 * Keys.LONG_BYTES;
        long first = beginsWithin ? Keys.longAt(range.after(), Keys.LONG_BYTES) : 0;
        try (Cursor present = database.scan(Family.RECIPE, Keys.of(inode, first), Keys.of(inode + 1))) {
            boolean more = present.next();
            for (long page = first; page < end; page++) {
                byte[] key = Keys.of(inode, page);
                while (more && Arrays.compareUnsigned(present.key(), key) < 0) {
                    more = present.next();
                }
                if (more && Arrays.equals(present.key(), key)) {
                    continue;
                }
                if (range.contains(key)) {
                    if (!visitor.visit(page)) {
                        return false;
                    }
                } else if (page > first) {
                    return true;
                }
            }
        }
        return true;
    }

    /** Returns the record of a lost page that describes {@code length} bytes. */
    static byte[] encode(byte[] key, long lostContainer, int length) {
        return RecipeFormat.encode(
                key,
                new RecipePage.Builder()
                        .add(ChunkId.of(lostContainer, 0), 0, length, 0)
                        .build());
    }
}
