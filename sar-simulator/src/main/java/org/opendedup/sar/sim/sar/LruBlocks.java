package org.opendedup.sar.sim.sar;

import com.carrotsearch.hppc.LongIntHashMap;

/**
 * Blocks in the order of their last use; a new block replaces the least recently used one. About 34 bytes a block. For
 * one thread.
 */
final class LruBlocks {
    static final int ABSENT = -1;

    private static final int SLOT_BYTES = Long.BYTES + 2 * Integer.BYTES;

    private final LongIntHashMap slots = new LongIntHashMap();
    /**
     * Links by slot; the last slot is the list's head: its next is the most recently used block, its previous the least
     * recently used one.
     */
    private final long[] blocks;

    private final int[] next;
    private final int[] previous;
    private final int head;
    private int used;

    /** @param capacity number of blocks, at least one */
    LruBlocks(int capacity) {
        blocks = new long[capacity];
        next = new int[capacity + 1];
        previous = new int[capacity + 1];
        head = capacity;
        next[head] = head;
        previous[head] = head;
    }

    /** Returns the slot of a block, or {@link #ABSENT}; a present block becomes the most recently used one. */
    int use(long block) {
        int slot = slots.getOrDefault(block, ABSENT);
        if (slot != ABSENT && slot != next[head]) {
            unlink(slot);
            linkFirst(slot);
        }
        return slot;
    }

    /** Adds an absent block. */
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
        return slots.ramBytesAllocated() + (long) SLOT_BYTES * blocks.length;
    }
}
