package org.opendedup.sar.restore.frame;

import java.util.Arrays;

/** Sets of ids of chunks or frames, as arrays in ascending order. */
public final class SortedIds {
    private SortedIds() {}

    /** Returns the first {@code count} of {@code ids}, in ascending order, each once. May sort {@code ids} itself. */
    public static long[] of(long[] ids, int count) {
        Arrays.sort(ids, 0, count);
        int distinct = 0;
        for (int i = 0; i < count; i++) {
            if (distinct == 0 || ids[i] != ids[distinct - 1]) {
                ids[distinct++] = ids[i];
            }
        }
        return Arrays.copyOf(ids, distinct);
    }

    /** Returns the ids of both arrays, in ascending order, each once. */
    public static long[] union(long[] some, long[] others) {
        long[] all = Arrays.copyOf(some, some.length + others.length);
        System.arraycopy(others, 0, all, some.length, others.length);
        return of(all, all.length);
    }
}
