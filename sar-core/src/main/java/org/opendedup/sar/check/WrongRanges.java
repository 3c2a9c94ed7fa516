package org.opendedup.sar.check;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * Ranges of files that are damaged for another reason than a chunk that cannot be read, each with its finding. Memory:
 * 32 bytes for each range, and at most {@value #MAX} ranges; of further ones, only number and bytes are kept for each
 * finding.
 */
final class WrongRanges {
    static final int MAX = 1 << 20;
    private static final int COLUMNS = 4;

    /** Receives ranges; see {@link #forEach}. */
    @FunctionalInterface
    interface Visitor {
        void visit(int finding, long inode, long from, long to);
    }

    private long[] ranges = new long[64];
    private int count;
    private final Map<Integer, Unlisted> unlisted = new TreeMap<>();

    /** Ranges that are not kept. */
    record Unlisted(long ranges, long bytes) {}

    void add(int finding, long inode, long from, long to) {
        if (count == MAX) {
            unlisted.merge(
                    finding,
                    new Unlisted(1, to - from),
                    (before, one) -> new Unlisted(before.ranges + 1, before.bytes + one.bytes));
            return;
        }
        if ((count + 1) * COLUMNS > ranges.length) {
            ranges = Arrays.copyOf(ranges, 2 * ranges.length);
        }
        int at = COLUMNS * count++;
        ranges[at] = finding;
        ranges[at + 1] = inode;
        ranges[at + 2] = from;
        ranges[at + 3] = to;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** Returns what is not kept, by the numbers of the findings. */
    Map<Integer, Unlisted> unlisted() {
        return unlisted;
    }

    void forEach(Visitor visitor) {
        for (int at = 0; at < COLUMNS * count; at += COLUMNS) {
            visitor.visit((int) ranges[at], ranges[at + 1], ranges[at + 2], ranges[at + 3]);
        }
    }
}
