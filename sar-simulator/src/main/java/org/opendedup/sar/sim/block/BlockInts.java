package org.opendedup.sar.sim.block;

import com.carrotsearch.hppc.LongIntHashMap;
import java.util.Arrays;

/**
 * Map from block numbers to small numbers. Requests name neighbouring blocks, so sixteen of these share a line of
 * memory and one look-up: 4 bytes a block, and 20 to 40 for each group of sixteen of which one is present. For one
 * thread.
 */
public final class BlockInts {
    /** Result of {@link #get} for a block without a number; never a number itself. */
    public static final int ABSENT = -1;

    private static final int GROUP_BITS = 4;
    private static final int GROUP = 1 << GROUP_BITS;

    private final LongIntHashMap groups = new LongIntHashMap();
    private int[] values = new int[64 * GROUP];
    /** The group of the last request, and the index of its values; {@link #ABSENT} if it has none. */
    private long lastGroup = -1;

    private int lastIndex = ABSENT;

    /** Returns the number of a block, or {@link #ABSENT}. */
    public int get(long block) {
        int group = find(block >>> GROUP_BITS);
        return group == ABSENT ? ABSENT : values[place(group, block)];
    }

    /** Sets the number of a block, which must be 0 or more. */
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
            lastIndex = groups.getOrDefault(number, ABSENT);
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

    /** Returns the size of the tables in heap bytes. */
    public long heapBytes() {
        return groups.ramBytesAllocated() + (long) Integer.BYTES * values.length;
    }
}
