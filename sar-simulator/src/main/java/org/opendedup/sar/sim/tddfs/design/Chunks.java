package org.opendedup.sar.sim.tddfs.design;

import org.opendedup.sar.sim.tddfs.tier.Recipe;

/** Changes of recipes by writes. No state. */
final class Chunks {
    /** Length of the chunks that an appended range gets until it is deduplicated: the paper's average (section 3.3). */
    private static final int APPENDED_BYTES = 8 << 10;

    private Chunks() {}

    /** Marks the chunks of a written range as modified, and appends chunks for what is beyond the file's end. */
    static void modify(Recipe recipe, long size, long offset, long length) {
        Recipe.Range range = recipe.find(offset, offset + length);
        for (int i = range.from(); i < range.to(); i++) {
            recipe.modify(i);
        }
        append(recipe, offset + length - size);
    }

    /** Appends modified chunks; none if there are no bytes. */
    static void append(Recipe recipe, long bytes) {
        for (long left = bytes; left > 0; left -= APPENDED_BYTES) {
            recipe.addModified((int) Math.min(APPENDED_BYTES, left));
        }
    }

    /** Returns whether a write leaves bytes of an entry unchanged. */
    static boolean isPartial(long entryStart, long entryEnd, long offset, long end) {
        return offset > entryStart || end < entryEnd;
    }
}
