package org.opendedup.sar.sim.tddfs.tier;

import java.util.Arrays;

/** A column of numbers that grows when it is written to. What was never written is 0. For one thread. */
public final class IntColumn {
    private static final int LEAST_LENGTH = 1 << 10;

    private int[] values = new int[LEAST_LENGTH];

    public int get(int row) {
        return row < values.length ? values[row] : 0;
    }

    public void set(int row, int value) {
        if (row >= values.length) {
            // Half as much again: the columns of the largest trace are most of the memory.
            values = Arrays.copyOf(values, Math.max(row + 1, values.length + values.length / 2));
        }
        values[row] = value;
    }
}
