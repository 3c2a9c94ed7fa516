package org.opendedup.sar.sim.sar;

import org.opendedup.sar.sim.block.LongIntMap;

/** Blocks in the order of their last use; the longest unused gives way to a new one. About 34 bytes a block. For one thread. */
final class LruBlocks {
    static final int ABSENT = LongIntMap.ABSENT;

    private static final int SLOT_BYTES = Long.BYTES + 2 * Integer.BYTES;

    private final LongIntMap slots = new LongIntMap();
    /** By slot; the last place of the links is the list's head: its next is the one used last, the one before it the oldest. */
    private final long[] blocks;

    private final int[] next;
    private final int[] previous;
    private final int head;
    private int used;

    /** @param capacity blocks, at least one */
    LruBlocks(int capacity) {
        blocks = new long[capacity];
        next = new int[capacity + 1];
        previous = new int[capacity + 1];
        head = capacity;
        next[head] = head;
        previous[head] = head;
    }

    /** The slot of a block, or {@link #ABSENT}; if it is there, it is the one used last. */
    int use(long block) {
        int slot = slots.get(block);
        if (slot != ABSENT && slot != next[head]) {
            unlink(slot);
            linkFirst(slot);
        }
        return slot;
    }

    /** Adds a block that is not there. */
    void add(long block) {
        int slot = used;
        if (used < blocks.length) {
            used++;
        } else {
            slot = previous[head];
            unlink(slot);
            slots.remove(blocks[slot]);
        }
        blocks[slot] = block;
        slots.put(block, slot);
        linkFirst(slot);
    }

    private void unlink(int slot) {
        next[previous[slot]] = next[slot];
        previous[next[slot]] = previous[slot];
    }

    private void linkFirst(int slot) {
        next[slot] = next[head];
        previous[slot] = head;
        previous[next[head]] = slot;
        next[head] = slot;
    }

    long heapBytes() {
        return slots.heapBytes() + (long) SLOT_BYTES * blocks.length;
    }
}
