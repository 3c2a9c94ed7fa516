package org.opendedup.sar.sim.block;

import java.util.Arrays;

/**
 * From block numbers to small numbers. Requests name blocks that lie side by side, so sixteen of these share a line of memory and one
 * look-up: 4 bytes a block, and 20 to 40 for each sixteen of which one is there. For one thread.
 */
public final class BlockInts {
    /** What {@link #get} answers for a block without a number; no number. */
    public static final int ABSENT = LongIntMap.ABSENT;

    private static final int GROUP_BITS = 4;
    private static final int GROUP = 1 << GROUP_BITS;

    private final LongIntMap groups = new LongIntMap();
    private int[] values = new int[64 * GROUP];
    /** The group asked for last, and where its values are; {@link #ABSENT} if it has none. */
    private long lastGroup = -1;

    private int lastIndex = ABSENT;

    /** The number of a block, or {@link #ABSENT}. */
    public int get(long block) {
        int group = find(block >>> GROUP_BITS);
        return group == ABSENT ? ABSENT : values[place(group, block)];
    }

    /** Sets the number of a block; not below 0. */
    public void put(long block, int value) {
        assert value >= 0 : value;
        int group = find(block >>> GROUP_BITS);
        if (group == ABSENT) {
            group = add(block >>> GROUP_BITS);
        }
        values[place(group, block)] = value;
    }

    private int find(long number) {
        if (number != lastGroup) {
            lastGroup = number;
            lastIndex = groups.get(number);
        }
        return lastIndex;
    }

    private int add(long number) {
        int group = groups.size();
        groups.put(number, group);
        lastIndex = group;
        int from = group << GROUP_BITS;
        if (from == values.length) {
            values = Arrays.copyOf(values, 2 * from);
        }
        Arrays.fill(values, from, from + GROUP, ABSENT);
        return group;
    }

    private static int place(int group, long block) {
        return (group << GROUP_BITS) + (int) (block & GROUP - 1);
    }

    /** Heap bytes. */
    public long heapBytes() {
        return groups.heapBytes() + (long) Integer.BYTES * values.length;
    }
}
