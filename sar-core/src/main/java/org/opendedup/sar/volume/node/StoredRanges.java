package org.opendedup.sar.volume.node;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.opendedup.sar.metadata.recipes.RecipeStore;
import org.opendedup.sar.metadata.record.RecipePage;

/**
 * The ranges of a file whose bytes are stored in chunks, according to its recipe. Bytes that replace them take no
 * additional capacity.
 */
public final class StoredRanges {
    /** No known ranges. */
    public static final StoredRanges NONE = new StoredRanges();

    /** All bytes of the file. */
    static final StoredRanges ALL = new StoredRanges();

    static {
        ALL.ends.put(0L, Long.MAX_VALUE);
    }

    /** End offset of each range, by its start offset. */
    private final TreeMap<Long, Long> ends = new TreeMap<>();

    private StoredRanges() {}

    /**
     * Returns the ranges of the recipe pages that overlap {@code from} to {@code to}. They stay valid while the caller
     * holds the file's storing lock.
     */
    public static StoredRanges of(RecipeStore recipes, long inode, long from, long to) throws IOException {
        int pageBytes = recipes.pageBytes();
        StoredRanges found = new StoredRanges();
        for (long number = from / pageBytes; number * pageBytes < to; number++) {
            found.add(recipes.page(inode, number), number * pageBytes);
        }
        return found;
    }

    private void add(RecipePage page, long start) {
        for (int entry = 0; entry < page.count(); entry++) {
            if (!page.isZero(entry)) {
                add(start + page.start(entry), start + page.end(entry));
            }
        }
    }

    private void add(long from, long to) {
        Map.Entry<Long, Long> last = ends.lastEntry();
        ends.put(last != null && last.getValue() == from ? last.getKey() : from, to);
    }

    boolean has(long offset) {
        Map.Entry<Long, Long> floor = ends.floorEntry(offset);
        return floor != null && floor.getValue() > offset;
    }

    /**
     * Returns the first offset after {@code offset} for which {@link #has} returns the opposite; {@link Long#MAX_VALUE}
     * if there is none.
     */
    long change(long offset) {
        Map.Entry<Long, Long> floor = ends.floorEntry(offset);
        if (floor != null && floor.getValue() > offset) {
            return floor.getValue();
        }
        Long next = ends.higherKey(offset);
        return next == null ? Long.MAX_VALUE : next;
    }
}
