package org.opendedup.sar.sim.tddfs.design;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The space of recipes on the fast tier. When they have more than a share of it, those of the files that left the fast
 * tier first follow (TDDFS paper, section 3.3). Such a file was not used since, so they are the least recently used.
 * For one thread.
 */
final class RecipeSpace {
    private final int entryBytes;
    private final long mostBytes;
    private final Map<Integer, Long> onFast = new HashMap<>();
    /** Those on the fast tier whose files are not, in the order in which they left. */
    private final Map<Integer, Long> mayLeave = new LinkedHashMap<>();

    private final Map<Integer, Long> onSlow = new HashMap<>();
    private long fastBytes;
    private long slowBytes;

    private RecipeSpace(int entryBytes, long mostBytes) {
        this.entryBytes = entryBytes;
        this.mostBytes = mostBytes;
    }

    private static int entryBytes(Tiers tiers) {
        return tiers.rules().recipeEntryBytes() * tiers.sharing().grain();
    }

    /** Makes the space of TDDFS. */
    static RecipeSpace limited(Tiers tiers) {
        return new RecipeSpace(entryBytes(tiers), (long) (tiers.rules().recipesShare() * tiers.fastLimitBytes()));
    }

    /** Makes the space of a design whose recipes stay. */
    static RecipeSpace unlimited(Tiers tiers) {
        return new RecipeSpace(entryBytes(tiers), Long.MAX_VALUE);
    }

    /** Notes the present entries of a file's recipe, which is on the fast tier. */
    void set(int file, int entries) {
        remove(file);
        long bytes = (long) entries * entryBytes;
        onFast.put(file, bytes);
        fastBytes += bytes;
    }

    /** Notes that a file left the fast tier, so that its recipe may follow. Returns the bytes of recipes that do. */
    long lowered(int file) {
        Long bytes = onFast.get(file);
        if (bytes == null) {
            throw new IllegalStateException("the recipe of file " + file + " is not on the fast tier");
        }
        mayLeave.put(file, bytes);
        long moved = 0;
        Iterator<Map.Entry<Integer, Long>> order = mayLeave.entrySet().iterator();
        while (fastBytes > mostBytes && order.hasNext()) {
            Map.Entry<Integer, Long> next = order.next();
            order.remove();
            onFast.remove(next.getKey());
            onSlow.put(next.getKey(), next.getValue());
            fastBytes -= next.getValue();
            slowBytes += next.getValue();
            moved += next.getValue();
        }
        return moved;
    }

    /**
     * Brings a recipe to the fast tier for its file, which is opened. Returns its bytes if it was not there, else 0.
     */
    long opened(int file) {
        mayLeave.remove(file);
        Long bytes = onSlow.remove(file);
        if (bytes == null) {
            return 0;
        }
        slowBytes -= bytes;
        onFast.put(file, bytes);
        fastBytes += bytes;
        return bytes;
    }

    /** Removes a file's recipe, if it has one. */
    void remove(int file) {
        mayLeave.remove(file);
        Long fast = onFast.remove(file);
        Long slow = onSlow.remove(file);
        fastBytes -= fast == null ? 0 : fast;
        slowBytes -= slow == null ? 0 : slow;
    }

    long fastBytes() {
        return fastBytes;
    }

    long slowBytes() {
        return slowBytes;
    }
}
